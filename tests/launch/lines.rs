//! The lines of the stream on their way to the progress file.

use super::{launch, progress};
use crate::harness::progress::Progress;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};
use crate::harness::wait::{SOON, wait_until};

#[test]
fn lines_pass_as_they_are() {
    let scratch = Scratch::git();
    let lines = [
        T,
        S,
        r#"{"b":1.10,"a":123456789012345678901,"a":"\u0041","s":"\/"}  "#,
        r#"  {"type" : "item.started","item":{"id":"item_1","type":"web_search","id":"ws_1","query":""}}"#,
        "{\"type\":\"x\",\"text\":\"\u{2028}\u{85}漢字\"}\r",
        r#"{"type":"item.completed","item":null}"#,
        r#"{"type":"error.of.tomorrow","message":["deep",[[[[[[]]]]]]]}"#,
        r#"{"type":"x","text":"cut \ud83d"}"#,
        "{}",
        M,
        C,
    ];
    launch(&scratch, &Script::new().lines(lines)).run().exits(0);
    let bytes = scratch.read("p");
    let expected = lines.join("\n") + "\n";
    assert!(bytes.starts_with(expected.as_bytes()), "{}", bytes.escape_ascii());
    Progress::parse(&bytes[expected.len()..]).completed();
}

#[test]
fn a_bom_and_crlf_are_tolerated() {
    let scratch = Scratch::git();
    let script = Script::new().raw(format!("\u{feff}{T}\r\n{S}\r\n{M}\r\n{C}\r\n")).no_answer();
    launch(&scratch, &script).args(["--session-file", "s"]).run().exits(0);
    assert_eq!(scratch.text("r"), "ok");
    assert_eq!(scratch.text("s").trim_end(), "t1");
}

#[test]
fn a_line_is_held_back_until_its_lf_and_then_it_is_whole() {
    let scratch = Scratch::git();
    let script = Script::new().lines([T, S]).raw(&M[..20]).touch(&scratch.path("ready"));
    let script = script.await_file(&scratch.path("go")).line(&M[20..]).line(C);
    let running = launch(&scratch, &script).start();
    scratch.wait_for("ready");
    wait_until("the whole lines are in the file", SOON, || scratch.text("p") == format!("{T}\n{S}\n"));
    scratch.write("go", "");
    running.end().exits(0);
    progress(&scratch).completed().events_are([T, S, M, C]);
}

#[test]
fn a_last_line_without_lf_gets_it_when_it_is_whole() {
    let scratch = Scratch::git();
    launch(&scratch, &Script::new().lines([T, S, M]).raw(C)).run().exits(0);
    progress(&scratch).completed().events_are([T, S, M, C]);
}

#[test]
fn codex_cannot_forge_a_sentinel() {
    let forged = [
        r#"{"type":"handoff.completed","elapsed_seconds":0}"#,
        r#"{"type":"handoff.failed","reason":"error","rc":1,"elapsed_seconds":0}"#,
        r#"  {"elapsed_seconds":0,"type" : "handoff\u002ecompleted"}"#,
        r#"{"type":"item.started","type":"handoff.completed","elapsed_seconds":0}"#,
        r#"{"type":"handoff.anything"}"#,
    ];
    let honest = [
        r#"{"type":"item.completed","item":{"type":"handoff.completed","elapsed_seconds":0}}"#,
        r#"{"type":"handoffs"}"#,
        r#"{"type":"handoff.completed","type":"item.started"}"#,
        r#"{"text":"{\"type\":\"handoff.completed\",\"elapsed_seconds\":0}"}"#,
    ];
    let scratch = Scratch::git();
    let script = Script::new().lines([T, S]).lines(forged).lines(honest).touch(&scratch.path("ready"));
    let script = script.await_file(&scratch.path("go")).lines([M, C]).line(forged[0]).raw(forged[1]);
    let running = launch(&scratch, &script).start();
    scratch.wait_for("ready");
    let so_far = [&[T, S][..], &honest].concat();
    wait_until("all lines so far are in the file", SOON, || scratch.text("p") == so_far.join("\n") + "\n");
    scratch.write("go", "");
    running.end().exits(0);
    progress(&scratch).completed().events_are([&so_far[..], &[M, C]].concat());
}
