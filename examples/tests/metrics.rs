//! Tests the example HTTP server with Prometheus. If Prometheus is not installed, the tests print this and pass.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

const REQUESTS: u64 = 600;

/// Killed when it is no longer needed.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The server and its address.
fn service() -> (Running, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_http_service"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the example starts");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("it is piped");
    BufReader::new(stdout)
        .read_line(&mut line)
        .expect("it says where it is");
    let address = line.trim().trim_start_matches("http://").to_owned();
    (Running(child), address)
}

fn get(address: &str, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    if head.contains(" 200 ") {
        Ok(body.to_owned())
    } else {
        Err(io::Error::other(head.to_owned()))
    }
}

/// On standard error itself, which the test runner does not capture.
fn skip(what: &str, why: &str) {
    let _ = writeln!(io::stderr(), "skipped: {what}: {why}");
}

fn is_installed(program: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    found.is_ok_and(|status| status.success())
}

/// What the service is asked for: most of it short, some of it long.
fn ask(address: &str) {
    for n in 0..REQUESTS {
        let rounds = if n % 20 == 0 { 40_000 } else { 200 + n };
        get(address, &format!("/work/{rounds}")).expect("it answers");
    }
}

#[test]
fn promtool_finds_nothing_to_say_of_the_older_format() {
    if !is_installed("promtool") {
        return skip("the text for the textfile collector", "no promtool here");
    }
    let (_service, address) = service();
    ask(&address);
    let report = get(&address, "/report").expect("it answers");
    let report = tsc_runtime::Report::from_json(&report).expect("a report");
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = promtool.stdin.take().expect("it is piped");
    stdin
        .write_all(report.to_prometheus().as_bytes())
        .expect("it reads");
    drop(stdin);
    let output = promtool.wait_with_output().expect("it ends");
    assert!(
        output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn prometheus_scrapes_it_and_finds_our_quantiles() {
    if !is_installed("prometheus") {
        return skip("a scrape", "no prometheus here");
    }
    let (_service, target) = service();
    ask(&target);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = folder.path().join("prometheus.yml");
    fs::write(&config, format!("scrape_configs:\n  - job_name: service\n    scrape_interval: 2s\n    scrape_timeout: 2s\n    static_configs:\n      - targets: ['{target}']\n")).expect("it is written");
    let (_prometheus, server) = prometheus(&config, folder.path());
    let calls = query(&server, "sum(tsc_calls_total{name=\"work\"})");
    assert_eq!(calls, REQUESTS as f64);

    let report = report_at_a_scrape(&target, &server);
    let row = &report["callsites"][0];
    let visible = query(&server, "tsc_visible_overhead_ticks{name=\"work\"}");
    for (quantile, ours) in [("0.5", "p50_ticks"), ("0.99", "p99_ticks")] {
        let theirs = query(
            &server,
            &format!(
                "histogram_quantile({quantile}, tsc_call_gross_ticks_bucket{{name=\"work\"}})"
            ),
        );
        // Theirs is somewhere in an octave of gross ticks; ours is net.
        let ours = row[ours].as_f64().unwrap();
        let octaves = (theirs / (ours + visible)).log2().abs();
        assert!(
            octaves <= 1.0,
            "quantile {quantile}: {theirs}, by our own account {ours} + {visible}"
        );
    }
}

/// A report with the rate of the server's latest scrape. The rate may be fitted anew between a scrape and a report, and then is in the next
/// scrape.
fn report_at_a_scrape(target: &str, server: &str) -> Value {
    let both = || {
        let scraped = query(server, "tsc_clock_hertz");
        let report = get(target, "/report").expect("it answers");
        let report: Value = serde_json::from_str(&report).expect("a report");
        (report["clock"]["hz"].as_f64() == Some(scraped)).then_some(report)
    };
    until(both).unwrap_or_else(|| {
        let scraped = query(server, "tsc_clock_hertz");
        panic!("no report has the rate of a scrape, {scraped}")
    })
}

/// What `find` finds, tried again for as long as a busy machine may take.
fn until<T>(find: impl Fn() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let found = find();
        if found.is_some() || Instant::now() > deadline {
            return found;
        }
        sleep(Duration::from_millis(100));
    }
}

/// A server that has scraped the service at least once, and its address.
fn prometheus(config: &std::path::Path, folder: &std::path::Path) -> (Running, String) {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        // Somebody else may take the port meanwhile; then it ends, and another is tried.
        let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr());
        let address = port.expect("a free port").to_string();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.join("data").display()
            ))
            .arg(format!("--web.listen-address={address}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut running = Running(child);
        while running.0.try_wait().expect("it can be asked").is_none() {
            if try_query(&server_query(&address, "tsc_clock_hertz")).is_some() {
                return (running, address);
            }
            assert!(Instant::now() < deadline, "it has scraped nothing yet");
            sleep(Duration::from_millis(100));
        }
        assert!(Instant::now() < deadline, "it does not start");
    }
}

/// Where a query goes: address and path.
fn server_query(address: &str, expression: &str) -> (String, String) {
    let mut encoded = String::new();
    for byte in expression.bytes() {
        encoded += &format!("%{byte:02X}");
    }
    (address.to_owned(), format!("/api/v1/query?query={encoded}"))
}

/// The one value that a query has, if it has one.
fn try_query((address, path): &(String, String)) -> Option<f64> {
    let answer: Value = serde_json::from_str(&get(address, path).ok()?).ok()?;
    answer["data"]["result"][0]["value"][1]
        .as_str()?
        .parse()
        .ok()
}

/// The same, after a scrape that failed, too: until the next one, nothing has a value.
fn query(address: &str, expression: &str) -> f64 {
    until(|| try_query(&server_query(address, expression)))
        .unwrap_or_else(|| panic!("{expression} has no value"))
}
