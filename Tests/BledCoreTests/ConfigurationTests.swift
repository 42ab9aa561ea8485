import BledCore
import GATT
import JSONFiles
import Logging
import Testing

/// The configuration file: what it may say, and that every mistake is named with its place and remedy.
@Suite struct ConfigurationTests {
  private func read(_ text: String) throws(FileError) -> Configuration {
    try Configuration(text.utf8, file: "bled.json")
  }

  @Test func everythingHasADefault() throws {
    #expect(try read("{}") == Configuration())
    #expect(try Configuration(file: nil) == Configuration())
  }

  @Test func everythingCanBeSaid() throws {
    let configuration = try read(
      """
      // comments are allowed
      {
        adapters: ["hci1", "simulated"],
        socket: { path: "/tmp/x.sock", mode: "0600", group: "staff" },
        logLevel: "debug", name: "Kitchen", appearance: 64,
        preferredConnection: { interval: [0.03, 0.05], latency: 4, timeout: 2.5 },
        restoration: { keep: 60, wakeDirectory: "/tmp/wake" },
        policy: { scan: ["everyone"], sessions: ["user:kiosk", "group:27"], pair: [] },
        limits: { sessions: 10, perUser: { services: 3 }, perSession: { queueOctets: 2097152 } },
      }
      """)
    #expect(configuration.adapters.names == ["hci1", "simulated"])
    #expect(configuration.socket.path == "/tmp/x.sock")
    #expect(configuration.socket.mode == 0o600)
    #expect(configuration.socket.group == "staff")
    #expect(configuration.log.level == .debug)
    #expect(configuration.identity.name == "Kitchen")
    #expect(configuration.identity.appearance == 64)
    #expect(
      configuration.preferredConnection.parameters
        == PreferredConnectionParameters(interval: 24...40, latency: 4, timeout: 250))
    #expect(configuration.restoration.keep == 60)
    #expect(configuration.restoration.wakeDirectory == "/tmp/wake" && configuration.wakeDirectory == "/tmp/wake")
    var other = Configuration()
    #expect(other.wakeDirectory == "/run/bled/wake")
    other.socket.path = "/tmp/b.sock"
    #expect(other.wakeDirectory == "/tmp/b.sock.wake")
    #expect(configuration.policy.grants[.scan] == [.everyone])
    #expect(configuration.policy.grants[.sessions] == [.user("kiosk"), .group("27")])
    #expect(configuration.policy.grants[.pair] == [])
    #expect(configuration.policy.grants[.connect] == [.group("bluetooth")])
    #expect(configuration.limits.total == [.sessions: 10, .peripherals: 4096, .queueOctets: 256 << 20])
    #expect(configuration.limits.perUser[.services] == 3)
    #expect(configuration.limits.perSession[.queueOctets] == 2 << 20)
  }

  @Test(arguments: [
    ("{ \"adaptors\": [] }", "adaptors"), ("{ \"socket\": { \"paht\": \"\" } }", "socket.paht"),
    ("{ \"adapters\": \"hci0\" }", "adapters"), ("{ \"adapters\": [] }", "adapters"),
    ("{ \"logLevel\": \"loud\" }", "logLevel"), ("{ \"appearance\": 70000 }", "appearance"),
    ("{ \"socket\": { \"mode\": \"rw\" } }", "socket.mode"), ("{ \"socket\": { \"mode\": \"7777\" } }", "socket.mode"),
    ("{ \"restoration\": { \"keep\": -1 } }", "restoration.keep"),
    ("{ \"preferredConnection\": {} }", "preferredConnection.interval"),
    ("{ \"preferredConnection\": { \"interval\": [0.03] } }", "preferredConnection.interval"),
    ("{ \"preferredConnection\": { \"interval\": [0.05, 0.03] } }", "preferredConnection.interval"),
    ("{ \"preferredConnection\": { \"interval\": [0.001, 0.03] } }", "preferredConnection.interval"),
    ("{ \"preferredConnection\": { \"interval\": [NaN, Infinity] } }", "preferredConnection.interval"),
    ("{ \"preferredConnection\": { \"interval\": [1, 1], \"latency\": 500 } }", "preferredConnection.latency"),
    ("{ \"preferredConnection\": { \"interval\": [1, 1], \"latency\": 1 } }", "preferredConnection.timeout"),
    ("{ \"preferredConnection\": { \"interval\": [1, 1], \"timeout\": 33 } }", "preferredConnection.timeout"),
    ("{ \"policy\": { \"fly\": [] } }", "policy.fly"), ("{ \"policy\": { \"scan\": [\"kiosk\"] } }", "policy.scan"),
    ("{ \"policy\": { \"scan\": \"everyone\" } }", "group:NAME"),
    ("{ \"limits\": { \"perUser\": { \"scan\": 1 } } }", "limits.perUser.scan"),
    ("{ \"limits\": { \"perSession\": { \"services\": 0 } } }", "limits.perSession.services"),
    ("{ \"limits\": { \"perSession\": { \"queueOctets\": 4096 } } }", "1048576"),
    ("{ \"limits\": { \"sessions\": 1.5 } }", "limits.sessions"), ("{ \"socket\": [] }", "socket"), ("{", "JSON5"),
    ("[]", "object"),
  ])
  func mistakesAreNamed(text: String, word: String) {
    let error = #expect(throws: FileError.self) { try read(text) }
    #expect(error?.description.contains(word) == true)
    #expect(error?.description.contains("bled.json") == true)
  }

  @Test(arguments: [
    ("{\n  \"adapters\": [\"hci0\", 1],\n}", "bled.json:2:24: adapters[1]: give a list of one or more strings"),
    ("{ limits: {\n    perUser: { scan: 1 } } }", "bled.json:2:16: limits.perUser.scan: this name is not known"),
    ("{ policy: { scan: ['everyone', 'me'] } }", "bled.json:1:32: policy.scan[1]: give a list of \"user:NAME\""),
    ("{ name: 'a',\n  // again\n  name: 'b' }", "bled.json:3:3: not valid JSON5: \"name\" is already defined at 1:3"),
  ])
  func mistakesHaveTheirPlace(text: String, start: String) {
    let error = #expect(throws: FileError.self) { try read(text) }
    #expect(error?.description.hasPrefix(start) == true, "\(error?.description ?? "")")
  }

  @Test func whatWaitsForTheNextStartIsKnown() throws {
    let old = try read("{ name: 'a', socket: { path: '/x' }, policy: { scan: [] }, logLevel: 'debug' }")
    let new = try read("{ name: 'b', socket: { path: '/y' }, limits: { sessions: 3 }, adapters: ['hci7'] }")
    #expect(new.keysForRestart(after: old) == ["socket"])
    #expect(new.keysForRestart(after: new) == [])
    let longer = try read("{ restoration: { keep: 7200 } }")
    #expect(longer.keysForRestart(after: Configuration()) == [])
    let elsewhere = try read("{ restoration: { wakeDirectory: '/w' } }")
    #expect(elsewhere.keysForRestart(after: longer) == ["restoration.wakeDirectory"])
  }

  @Test func aFileThatWasNamedMustBeThere() {
    let error = #expect(throws: FileError.self) { try Configuration(file: "/nowhere/bled.json") }
    #expect(error?.file == "/nowhere/bled.json" && error?.message.contains("there is no such file") == true)
  }
}
