//! Owns the frame of a page: head, links to the sections, foot.

use maud::{DOCTYPE, Markup, html};

use crate::answer::{Page, Section};
use crate::assets::{Asset, HTMX, ICON, STYLE};
use crate::links::Links;
use crate::visit::Visit;

/// Settings of htmx: no inline style, no evaluated code, no request to other servers, no copies of pages in
/// the browser's storage. A problem replaces the whole page.
const HTMX_CONFIG: &str = r##"{"includeIndicatorStyles":false,"allowEval":false,"selfRequestsOnly":true,"historyCacheSize":0,
    "responseHandling":[{"code":"[23]..","swap":true},
    {"code":"...","swap":true,"error":true,"target":"#main","select":"#main","swapOverride":"outerHTML"}]}"##;

/// Sources that a page in a file may use.
const FILE_POLICY: &str = "default-src 'none'; style-src 'self' file:; base-uri 'none'; form-action 'none'";

/// Renders the whole text of a page.
pub(crate) fn frame(visit: &Visit<'_>, page: &Page, signed_in: bool) -> Markup {
    let links = &visit.links;
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if links.are_files() { meta http-equiv="Content-Security-Policy" content=(FILE_POLICY); }
                @else { meta name="htmx-config" content=(HTMX_CONFIG); }
                title { (page.title) " · Diorama" }
                @if links.are_files() { link rel="stylesheet" href=(STYLE.name); }
                @else {
                    link rel="stylesheet" href=(address(links, &STYLE));
                    link rel="icon" href=(address(links, &ICON));
                    script src=(address(links, &HTMX)) defer {}
                }
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.brand href=(links.root()) { "Diorama" }
                    @if !links.are_files() { nav aria-label="Sections" {
                        @if visit.has_sessions() {
                            (section_link(links.page(&[]), "Worlds", page.section == Section::Worlds))
                            (section_link(links.page(&["sessions"]), "Sessions", page.section == Section::Sessions))
                        }
                        @if visit.console.rows().is_some() { (section_link(links.page(&["rows"]), "Rows", page.section == Section::Rows)) }
                        @if visit.console.runs().is_some() { (section_link(links.page(&["runs"]), "Runs", page.section == Section::Runs)) }
                    } }
                    @if signed_in {
                        form.sign-out method="post" action=(links.page(&["sign-out"])) { button.quiet { "Sign out" } }
                    }
                }
                main #main tabindex="-1" { (page.body) }
            }
        }
    }
}

fn section_link(address: String, name: &str, is_current: bool) -> Markup {
    html! { a href=(address) aria-current=[is_current.then_some("page")] { (name) } }
}

fn address(links: &Links, asset: &Asset) -> String {
    links.query(&["assets", asset.name], &[("v", &asset.tag())])
}
