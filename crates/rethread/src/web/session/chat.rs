//! The chat box of a thread: a message field, what the model does while it answers, and a button to stop it.

use maud::{Markup, html};
use rethread_model::{Agent, Session};

use super::super::components::{OneLine, command};
use super::super::viewer::Viewer;

/// The chat box, or why there is none. Nothing for sessions of other agents and for callers who may not write.
pub(super) fn chat(app: &Viewer<'_>, session: &Session) -> Markup {
    if session.agent != Agent::Native || !app.may_write {
        return html! {};
    }
    if !app.has_chat_model() {
        return html! {
            section.chat { p.dim { "No model is configured. To answer here, run " (command("rethread config set model.name MODEL")) } }
        };
    }
    html! {
        section.chat.script-only aria-label="Write to this thread" id="chat" data-chat=(session.id) data-keep {
            div.answering hidden data-answering {
                p.who { "Agent" }
                ul.used-tools data-used-tools {}
                div.typed data-partial {}
            }
            p.chat-status role="status" data-chat-status {}
            form data-chat-form {
                textarea name="text" rows="3" maxlength="100000" aria-label="Message" placeholder={ "Write to " (OneLine(app.engine.settings().model.usable_name())) } {}
                div.chat-actions {
                    label.choice.check { input type="checkbox" name="memory" checked; "Search memory" }
                    span.dim { kbd { "Ctrl" } " " kbd { "Enter" } }
                    button.plain type="button" hidden data-stop { "Stop" }
                    button.plain.primary type="submit" { "Send" }
                }
            }
        }
    }
}

/// The button that starts a thread.
pub(in super::super) fn new_thread_button(app: &Viewer<'_>) -> Markup {
    html! {
        @if app.may_write && app.has_chat_model() {
            button.plain.script-only type="button" data-new-thread { "New thread" }
        }
    }
}
