//! The opponents: the same jobs as `jq` programs.
//!
//! They do no more than this file asks for, which makes it easier for them: they keep no record of the items that they
//! have shown, as an item's lines follow one another here, and escape nothing. A line that is not JSON ends `jq`, so
//! the fair opponents read lines as text (`-R`) and leave out what `fromjson` does not take; those without `-R` are
//! faster and stop at the first bad line.

macro_rules! usage {
    ($lines:literal) => {
        concat!(
            "reduce ",
            $lines,
            r#" as $event ({};
    if $event.type == "thread.started" then
        if .thread == $event.thread_id then . else {thread: $event.thread_id} end
    elif $event.type == "turn.completed" then
        .usage = $event.usage
    else . end)
| .usage.input_tokens + .usage.output_tokens"#
        )
    };
}

/// The total of the last thread.
pub(crate) const USAGE: &[&str] = &["jq", "-nR", usage!("(inputs | fromjson? | objects)")];

/// The same, without `-R`.
pub(crate) const USAGE_STRICT: &[&str] = &["jq", "-n", usage!("inputs")];

macro_rules! plan {
    () => {
        r#"def plan: "Plan: " + ([.items | to_entries[]
    | "\(.key + 1). \(.value.text)" + if .value.completed then " ✓" else "" end] | join(" "));
"#
    };
}

macro_rules! render {
    ($lines:literal) => {
        concat!(
            $lines,
            r#"
| if .type == "item.completed" then .item
    | if .type == "agent_message" then .text | rtrimstr("\n")
      elif .type == "reasoning" then "Thinking: " + (.text | rtrimstr("\n"))
      elif .type == "command_execution" then
          "Using shell — " + .command,
          (select(.exit_code != 0) | "Shell failed with status \(.exit_code) — " + .command)
      elif .type == "file_change" then .changes[]
          | {add: "Added ", delete: "Deleted ", update: "Edited "}[.kind] + .path
      elif .type == "mcp_tool_call" then "Using \(.server)/\(.tool)…"
      elif .type == "web_search" then "Searching the web…"
      elif .type == "collab_tool_call" then "Asking an agent…"
      elif .type == "error" then "Warning: " + .message
      elif .type == "todo_list" then plan
      else empty end
  elif .type == "turn.completed" then .usage
    | "Tokens: in \(.input_tokens) (cached \(.cached_input_tokens)), out \(.output_tokens)"
  elif .type == "turn.failed" then "Failed: " + .error.message
  elif (.type == "item.started" or .type == "item.updated") and .item.type == "todo_list" then .item | plan
  else empty end"#
        )
    };
}

/// Each event as text.
pub(crate) const RENDER: &[&str] = &["jq", "-rR", concat!(plan!(), render!("fromjson? | objects"))];

/// The same, without `-R`.
pub(crate) const RENDER_STRICT: &[&str] = &["jq", "-r", concat!(plan!(), render!("."))];
