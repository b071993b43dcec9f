//! The real Codex CLI in a world of its own: no account, no network, nothing of whoever runs the tests.
//!
//! Tests that use it are a target of their own, `cargo test --test real-codex`, which needs npm; none of them leaves
//! itself out.
//!
//! Facts: "Run it without account and network" in common/CODEX.md.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::filter::{Filter, binary};
use super::scratch::Scratch;

/// A real Codex of one version, and how often it is to try again.
pub(crate) struct RealCodex {
    version: String,
    program: PathBuf,
    request_retries: u32,
    stream_retries: u32,
}

impl RealCodex {
    /// The Codex of this version, which is fetched where it is not there yet. It never tries a request again.
    #[track_caller]
    pub(crate) fn version(version: &str) -> RealCodex {
        static FETCHED: Mutex<BTreeMap<String, Result<PathBuf, String>>> = Mutex::new(BTreeMap::new());
        let fetched = {
            let mut fetched = FETCHED.lock().unwrap_or_else(PoisonError::into_inner);
            fetched.entry(version.to_owned()).or_insert_with(|| fetch(version)).clone()
        };
        let program = fetched.unwrap_or_else(|why| panic!("Codex {version}: {why}"));
        RealCodex { version: version.to_owned(), program, request_retries: 0, stream_retries: 0 }
    }

    /// How often it sends a request again that got an HTTP error; "retry" counts from the second time on.
    pub(crate) fn request_retries(mut self, retries: u32) -> RealCodex {
        self.request_retries = retries;
        self
    }

    /// How often it sends a request again whose answer was cut off.
    pub(crate) fn stream_retries(mut self, retries: u32) -> RealCodex {
        self.stream_retries = retries;
        self
    }

    /// A world for it, with a model that answers as the scenario says.
    pub(crate) fn world(self, scenario: &Value) -> World {
        let model = Loopback::start(scenario);
        // Codex keeps several databases. On a disk a run takes twice the time.
        let scratch = Scratch::in_memory();
        for folder in ["home", "codex", "repo", "tmp"] {
            fs::create_dir(scratch.path(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        }
        let settings = self.settings(&model.url);
        scratch.write("codex/config.toml", settings.join("\n"));
        // 0.98.0 asks api.openai.com for the models, whatever the provider is, and waits for the answer: 3 s without
        // a network. It does not ask while this file is fresh.
        let models =
            json!({"fetched_at": "2999-01-01T00:00:00Z", "client_version": self.version, "models": []});
        scratch.write("codex/models_cache.json", models.to_string());
        scratch.write("repo/a.txt", "a\n");
        let world = World { program: self.program, settings, scratch, model };
        world.git(&["init", "--quiet"]);
        world.git(&["add", "a.txt"]);
        world.git(&[
            "-c",
            "user.name=Test",
            "-c",
            "user.email=test@example.com",
            "commit",
            "--quiet",
            "-m",
            "a",
        ]);
        world
    }

    /// The lines of config.toml.
    fn settings(&self, url: &str) -> Vec<String> {
        let mut settings = vec![("model".to_owned(), json!("gpt-5.4"))];
        settings.push(("model_provider".to_owned(), json!("loopback")));
        let of_provider = [
            ("name", json!("loopback")),
            ("base_url", json!(url)),
            ("env_key", json!("LOOPBACK_KEY")),
            ("wire_api", json!("responses")),
            ("request_max_retries", json!(self.request_retries)),
            ("stream_max_retries", json!(self.stream_retries)),
        ];
        settings.extend(of_provider.map(|(key, value)| (format!("model_providers.loopback.{key}"), value)));
        // A sandbox that may write to the folders for temporary files keeps the agent from making a repository there
        // by making an empty `.git` of its own. In the middle of a command 0.156.1 and 0.171.0 leave it when they are
        // stopped, and whatever has to be outside any git worktree is in one from then on.
        for folder in ["exclude_slash_tmp", "exclude_tmpdir_env_var"] {
            settings.push((format!("sandbox_workspace_write.{folder}"), json!(true)));
        }
        settings.into_iter().map(|(key, value)| format!("{key}={value}")).collect()
    }
}

/// Runs `scripts/fetch-codex`; the error is what it said.
fn fetch(version: &str) -> Result<PathBuf, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/fetch-codex");
    let output = Command::new(script).arg(version).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("scripts/fetch-codex: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().into())
}

/// All that a Codex sees: its configuration, a home, a git repository to work in and a model to talk to.
///
/// Let Codex end before this value goes: 0.156.1 and later wait for a server that went away, for ever.
pub(crate) struct World {
    program: PathBuf,
    settings: Vec<String>,
    scratch: Scratch,
    model: Loopback,
}

impl World {
    /// The Codex program.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// The variables that make up this world. HOME is one: the agent's commands run in a login shell, and the
    /// profile of the machine can do anything.
    pub(crate) fn env(&self) -> [(&'static str, PathBuf); 4] {
        [
            ("HOME", self.scratch.path("home")),
            // The sandbox of newer ones keeps its books there, and never throws them away.
            ("TMPDIR", self.scratch.path("tmp")),
            ("CODEX_HOME", self.scratch.path("codex")),
            ("LOOPBACK_KEY", "any".into()),
        ]
    }

    /// All of config.toml as options: what is left where a Codex is told not to read it.
    pub(crate) fn settings(&self) -> Vec<&str> {
        self.settings.iter().flat_map(|setting| ["-c", setting]).collect()
    }

    /// The repository, with one file `a.txt` of the line `a`, committed.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.scratch.path("repo")
    }

    /// A path outside the repository, for what a run leaves.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }

    /// Puts a filter into this world: its variables, and the repository as working directory.
    pub(crate) fn around(&self, filter: Filter) -> Filter {
        self.env()
            .into_iter()
            .fold(filter, |filter, (name, value)| filter.env(name, value))
            .dir(self.workspace())
    }

    /// What Codex has asked of the model so far, as `loopback-model --log` tells it.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.model.requests()
    }

    #[track_caller]
    fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        let status = git.arg("-C").arg(self.workspace()).args(args).envs(self.env()).status().expect("git");
        assert!(status.success(), "git {args:?}: {status}");
    }
}

/// One test for each of the versions, of each of the functions, which take the version: `run::v0_156_1` calls
/// `run("0.156.1")`.
macro_rules! with_codex {
    (one $test:ident: [$($version:ident)*]) => {
        mod $test {
            $(#[test]
            fn $version() {
                super::$test(&stringify!($version)[1..].replace('_', "."));
            })*
        }
    };
    ($versions:tt $($test:ident)*) => {
        $($crate::harness::codex::with_codex! { one $test: $versions })*
    };
}
pub(crate) use with_codex;

/// A running loopback-model, gone with this value.
pub(crate) struct Loopback {
    /// What `base_url` has to be.
    pub(crate) url: String,
    child: Child,
    scratch: Scratch,
}

impl Loopback {
    /// Starts one with this scenario.
    #[track_caller]
    pub(crate) fn start(scenario: &Value) -> Loopback {
        let scratch = Scratch::new();
        let mut child = Command::new(binary("loopback-model"))
            .arg("--scenario")
            .arg(scratch.write("scenario.json", scenario.to_string()))
            .arg("--log")
            .arg(scratch.path("log.jsonl"))
            // When the tests are killed, this pipe ends and the server with it.
            .arg("--until-eof")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("loopback-model");
        let mut ready = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut ready).expect("a line of loopback-model");
        let url = ready.trim_end().strip_prefix("ready ").map(str::to_owned);
        let url = url.unwrap_or_else(|| panic!("loopback-model said {ready:?}"));
        Loopback { url, child, scratch }
    }

    /// Its log as far as it has whole lines.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let log = self.scratch.read("log.jsonl");
        let whole = log.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
        whole.map(|line| serde_json::from_slice(line).expect("a line of the log")).collect()
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        // It is gone already when a test ended it; else nothing it may still do matters.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
