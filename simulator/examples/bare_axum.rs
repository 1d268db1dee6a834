//! The least that axum does: the bytes of a file at every path. `benches/serve.sh` measures the server against it.

use axum::Router;
use axum::http::header::CONTENT_TYPE;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("expected the file to serve")?;
    let text = std::fs::read_to_string(file)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("listening on http://{}", listener.local_addr()?);
        let handler = move || {
            let text = text.clone();
            async move { ([(CONTENT_TYPE, "application/json")], text) }
        };
        axum::serve(listener, Router::new().fallback(handler)).await
    })?;
    Ok(())
}
