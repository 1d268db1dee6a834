fn main() {
    let zone = diorama_seeds::value::Zone::utc();
    let mut args = std::env::args().skip(1);
    let clock = diorama_answers::Clock::at(zone.parse_instant(&args.next().unwrap()).unwrap(), &zone);
    for text in args {
        let prose = diorama_answers::prose::Prose::read(&text, &clock);
        for m in prose.mentions() {
            println!("{:?} {:?} {:?}", prose.words_at(m.span()), m.stance, m.what);
        }
    }
}
