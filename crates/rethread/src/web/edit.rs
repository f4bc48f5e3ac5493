//! Controls that change what a user attached to a session. They need a script and are rendered only for callers who may
//! write; for others the same values are shown as text.

use maud::{Markup, PreEscaped, html};
use rethread_model::SessionId;

use super::components::{ExactValue, OneLine};
use super::links::link;

/// Tags of a session in a table; the others are in a tooltip.
const MAX_TAGS_IN_TABLE: usize = 4;

const STAR: PreEscaped<&str> = PreEscaped(
    "<svg viewBox=\"0 0 20 20\" width=\"16\" height=\"16\" aria-hidden=\"true\"><path d=\"M10 2.6l2.3 4.7 5.1.7-3.7 3.6.9 \
     5.1-4.6-2.4-4.6 2.4.9-5.1L2.6 8l5.1-.7z\"/></svg>",
);

const PENCIL: PreEscaped<&str> = PreEscaped(
    "<svg viewBox=\"0 0 20 20\" width=\"15\" height=\"15\" aria-hidden=\"true\" fill=\"none\" stroke=\"currentColor\" \
     stroke-width=\"1.5\" stroke-linejoin=\"round\"><path d=\"M3.5 16.5l.8-3.6L13.6 3.6l2.8 2.8-9.3 9.3z\"/></svg>",
);

/// The star that pins a session; without write access, a sign that it is pinned.
pub(super) fn pin_button(id: SessionId, name: &str, is_pinned: bool, may_write: bool) -> Markup {
    let pressed = if is_pinned { "true" } else { "false" };
    html! {
        @if may_write {
            button.star.script-only type="button" data-pin=(id) aria-pressed=(pressed) aria-label={ "Pin " (OneLine(name)) } { (STAR) }
        }
        @if is_pinned { span.star.pinned.no-script[may_write] { (STAR) span.sr { "pinned" } } }
    }
}

/// The tags of a session as links to the board. With a place to add and remove them if `editor` names the session.
pub(super) fn tag_list(id: SessionId, tags: &[String], editor: Option<&str>) -> Markup {
    html! {
        @if !tags.is_empty() || editor.is_some() {
            span.own-tags data-tags=[editor.map(|_| id)] {
                @let shown = if editor.is_some() { tags.len() } else { tags.len().min(MAX_TAGS_IN_TABLE) };
                @for tag in &tags[..shown] {
                    span.own-tag {
                        a href=(link("/", &[("tag", Some(tag))])) { (OneLine(tag)) }
                        @if editor.is_some() {
                            button.script-only type="button" data-remove-tag=(ExactValue(tag)) aria-label={ "Remove tag " (OneLine(tag)) } { "×" }
                        }
                    }
                }
                @if shown < tags.len() { span.dim title=(OneLine(tags[shown..].join(", "))) { "+" (tags.len() - shown) } }
                @if editor.is_some() {
                    form.add-tag.script-only data-add-tag=(id) {
                        input type="text" name="tag" maxlength="40" placeholder="Add tag" aria-label="Add tag" autocomplete="off";
                    }
                }
            }
        }
    }
}

/// The button that turns the heading of a session into a field with its name: without the alias, and empty if it has none.
pub(super) fn rename_button(id: SessionId, name: Option<&str>) -> Markup {
    html! { button.icon.rename.script-only type="button" data-rename=(id) data-name=(OneLine(name.unwrap_or_default())) aria-label="Rename" title="Rename" { (PENCIL) } }
}
