//! What is printed and how: colour only where it is wanted, no noise when the reader goes away, help for all.

use crate::scene::{READ, Scene};
use std::process::Command;

const ESCAPE: char = '\u{1b}';

#[test]
fn colour_and_pipes() {
    let scene = Scene::new();
    scene.end(scene.run_twins("shown", &["--tests", READ])).with_code(0);
    let plain = scene.end(scene.rqps(&["compare", "results/shown"])).with_code(0);
    assert!(!plain.stdout.contains(ESCAPE), "no terminal, no colour");
    let coloured = scene.end(scene.rqps(&["compare", "results/shown", "--color", "always"])).with_code(0);
    assert!(coloured.stdout.contains(ESCAPE));
    let coloured = scene.end(scene.rqps(&["--color", "never", "compare", "results/shown"])).with_code(0);
    assert!(!coloured.stdout.contains(ESCAPE));

    let rqps = env!("CARGO_BIN_EXE_rqps");
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        scene.furnish(&mut command);
        command
    };
    // On a terminal there is colour, unless the user's environment says no.
    let terminal = format!("script -qec '{rqps} compare results/shown' /dev/null");
    let mut command = shell(&terminal);
    assert!(scene.end(command).with_code(0).stdout.contains(ESCAPE));
    command = shell(&terminal);
    command.env("NO_COLOR", "1");
    let plain = scene.end(command).with_code(0);
    assert!(plain.stdout.contains(READ) && !plain.stdout.contains(ESCAPE), "{:?}", plain.stdout);

    // On a narrow terminal the list of builds keeps to its lines.
    let list = scene.end(shell(&format!("script -qec 'stty cols 80; {rqps} builds list' /dev/null"))).with_code(0);
    assert!(
        list.stdout.contains('…') && list.stdout.lines().all(|line| line.trim_end().chars().count() <= 80),
        "{}",
        list.stdout
    );
    assert!(!scene.end(scene.rqps(&["builds", "list"])).with_code(0).stdout.contains('…'));

    // A reader that has seen enough is no error.
    let cut =
        scene.end(shell(&format!("{{ {rqps} compare results/shown --json; echo $? >&2; }} | head -1"))).with_code(0);
    assert_eq!((cut.stdout.as_str(), cut.stderr.as_str()), ("{\n", "0\n"));
    let cut = scene.end(shell(&format!("{{ {rqps} help run; echo $? >&2; }} | true"))).with_code(0);
    assert_eq!(cut.stderr, "0\n");
    scene.assert_nothing_left();
}

#[test]
fn every_command_has_help() {
    let scene = Scene::new();
    let help = scene.end(scene.rqps(&["--help"])).with_code(0);
    for command in ["plan", "run", "resume", "more", "status", "demo", "compare", "report", "builds"] {
        assert!(help.stdout.contains(&format!("\n  {command} ")), "{command} in\n{}", help.stdout);
        let own = scene.end(scene.rqps(&[command, "--help"])).with_code(0);
        assert!(own.stdout.contains(&format!("rqps {command}")), "{}", own.stdout);
    }
    assert!(scene.end(scene.rqps(&["--version"])).with_code(0).stdout.starts_with("rqps "));
    assert_eq!(scene.made_in_cache(), [""; 0], "asking for help makes nothing");
}
