import BledCore
import GATT
import JSONFiles
import Logging
import Testing

/// The configuration file: its contents, and an error with place and remedy for every mistake.
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
        adapters: ["hci1", "simulated"], publicAddresses: { hci1: "F0:F1:F2:F3:F4:F5" },
        socket: { path: "/tmp/x.sock", mode: "0600", group: "staff" },
        logLevel: "debug", name: "Kitchen", appearance: 64,
        preferredConnection: { interval: [0.03, 0.05], latency: 4, timeout: 2.5 },
        links: { phy: "1M", longestPacket: 100, maximumInterval: 0.5 },
        pairing: "just-works", privacy: { rotation: 60 },
        restoration: { keep: 60, wakeDirectory: "/tmp/wake" },
        policy: { scan: ["everyone"], sessions: ["user:kiosk", "group:27"], pair: [] },
        limits: { sessions: 10, perUser: { services: 3 }, perSession: { queueOctets: 2097152 } },
      }
      """)
    #expect(configuration.adapters.names == ["hci1", "simulated"])
    #expect(configuration.publicAddresses.byAdapter.mapValues(\.description) == ["hci1": "F0:F1:F2:F3:F4:F5"])
    #expect(configuration.socket.path == "/tmp/x.sock")
    #expect(configuration.socket.mode == 0o600)
    #expect(configuration.socket.group == "staff")
    #expect(configuration.log.level == .debug)
    #expect(configuration.identity.name == "Kitchen")
    #expect(configuration.identity.appearance == 64)
    #expect(
      configuration.preferredConnection.parameters
        == PreferredConnectionParameters(interval: 24...40, latency: 4, timeout: 250))
    #expect(configuration.links.defaults.phy == .le1M && configuration.links.defaults.longestPacket == 100)
    #expect(configuration.links.defaults.longestInterval == .milliseconds(500))
    #expect(Configuration().links.defaults == LinkDefaults())
    #expect(configuration.pairing.policy == PairingPolicy(standard: .justWorks))
    #expect(Configuration().pairing.policy == PairingPolicy())
    #expect(configuration.privacy.rotation == .seconds(60) && Configuration().privacy.rotation == nil)
    #expect(try read("{ privacy: true }").privacy.rotation == .seconds(900))
    #expect(try read("{ privacy: false }").privacy.rotation == nil)
    #expect(try read("{ privacy: {} }").privacy.rotation == .seconds(900))
    #expect(configuration.restoration.keep == 60)
    #expect(configuration.restoration.wakeDirectory == "/tmp/wake" && configuration.wakeDirectory == "/tmp/wake")
    var other = Configuration()
    #expect(other.wakeDirectory == "/run/bled/wake")
    other.socket.path = "/tmp/b.sock"
    #expect(other.wakeDirectory == "/tmp/b.sock.wake")
    #expect(configuration.policy.grants[.scan] == [.everyone])
    #expect(configuration.policy.grants[.sessions] == [.user("kiosk"), .group("27")])
    #expect(configuration.policy.grants[.pair] == [])
    #expect(configuration.policy.grants[.connect] == [.group("bluetooth"), .group("bled-gateway")])
    #expect(
      configuration.limits.total == [
        .sessions: 10, .peripherals: 4096, .acquisitions: 1024, .channels: 512, .captures: 16,
        .queueOctets: 256 << 20,
      ])
    #expect(configuration.limits.perUser[.services] == 3)
    #expect(configuration.limits.perSession[.queueOctets] == 2 << 20)
  }

  @Test(arguments: [
    ("{ publicAddresses: { usb0: \"F0:F1:F2:F3:F4:F5\" } }", "publicAddresses.usb0"),
    ("{ publicAddresses: { hci0: \"F0\" } }", "publicAddresses.hci0"),
    ("{ publicAddresses: { hci0: \"00:00:00:00:00:00\" } }", "publicAddresses.hci0"),
    ("{ \"adaptors\": [] }", "adaptors"), ("{ \"socket\": { \"paht\": \"\" } }", "socket.paht"),
    ("{ \"adapters\": \"hci0\" }", "adapters"), ("{ \"adapters\": [] }", "adapters"),
    ("{ \"pairing\": \"always\" }", "pairing"), ("{ \"privacy\": \"on\" }", "privacy"),
    ("{ \"privacy\": { \"rotation\": 9 } }", "privacy.rotation"),
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

  private static let long = String(repeating: "n", count: 1 << 20)
  /// Slow to hash and to compare as a Swift string: its marks have to be sorted.
  private static let marks =
    "a" + String(repeating: "\u{300}", count: 200_000) + String(repeating: "\u{316}", count: 200_000)

  @Test(
    "What would be cut, or slow, or depend on the working directory is refused", .timeLimit(.minutes(10)),
    arguments: [
      ("{ socket: { mode: '+660' } }", "1:19: socket.mode: give three or four octal digits"),
      ("{ socket: { mode: '-0' } }", "1:19: socket.mode"), ("{ socket: { mode: '' } }", "1:19: socket.mode"),
      ("{ socket: { mode: '00000660' } }", "1:19: socket.mode"),
      ("{ socket: { path: '' } }", "1:19: socket.path: give an absolute path"),
      ("{ socket: { path: 'bled.sock' } }", "1:19: socket.path: give an absolute path"),
      ("{ socket: { path: '/a\\0b' } }", "1:19: socket.path: give an absolute path"),
      ("{ socket: { path: '/run/' } }", "1:19: socket.path: give the path of the socket"),
      ("{ socket: { path: '/\(String(repeating: "s", count: 107))' } }", "1:19: socket.path: give a shorter path"),
      ("{ socket: { path: '/\(long)' } }", "1:19: socket.path: this string has 1048577 octets"),
      ("{ socket: { group: '' } }", "1:20: socket.group"), ("{ socket: { group: '\(long)' } }", "1:20: socket.group"),
      ("{ stateDirectory: '' }", "1:19: stateDirectory: give an absolute path"),
      ("{ stateDirectory: 'state' }", "1:19: stateDirectory: give an absolute path"),
      ("{ stateDirectory: '/\(String(repeating: "s", count: 4050))' }", "1:19: stateDirectory: give a shorter path"),
      ("{ restoration: { wakeDirectory: '' } }", "1:33: restoration.wakeDirectory: give an absolute path"),
      ("{ name: '\(String(repeating: "n", count: 249))' }", "1:9: name: this string has 249 octets: give at most 248"),
      ("{ name: '\(marks)' }", "1:9: name"), ("{ logLevel: '\(marks)' }", "1:13: logLevel"),
      ("{ logLevel: \(marks) }", "1:13: not valid JSON5"), ("{ '\(marks)': 1 }", "1:3: not valid JSON5"),
      ("{ adapters: ['\(marks)'] }", "1:14: adapters[0]"),
      ("{ policy: { scan: ['\(marks)'] } }", "1:20: policy.scan[0]"),
      ("{ policy: { scan: ['user:\(long)'] } }", "1:20: policy.scan[0]: give a list"),
      ("{ policy: { scan: ['user:root\\0x'] } }", "1:20: policy.scan[0]: give a list"),
      ("{ adapters: [\(String(repeating: "'hci0',", count: 257))] }", "1:13: adapters: give a list"),
    ])
  func whatIsOutOfBoundsIsRefused(text: String, start: String) {
    let error = #expect(throws: FileError.self) { try read(text) }
    #expect(error?.description.hasPrefix("bled.json:\(start)") == true, "\(error?.description.prefix(200) ?? "")")
    #expect((error?.description.utf8.count ?? 0) < 1000)
  }

  @Test(
    "A key that occurs twice is an error at every level, however it is written",
    arguments: [
      "{ policy: {}, policy: {} }", "{ 'policy': {}, policy: {} }", "{ 'p\\u006flicy': {}, policy: {} }",
      "{ 'p\\x6flicy': {}, policy: {} }", "{ policy: { scan: ['everyone'], scan: [] } }",
      "{ policy: { scan: [], '\\u0073can': ['everyone'] } }", "{ limits: { perUser: { scans: 1, scans: 2 } } }",
      "{ limits: { perUser: {}, perUser: {} } }", "{ socket: { mode: '0600', mode: '0666' } }",
      "{ restoration: { keep: 1, keep: 2 } }", "{ name: null, name: 'a' }",
      "{ preferredConnection: { interval: [1, 1], interval: [1, 1] } }",
    ])
  func keysAreUnique(text: String) {
    let error = #expect(throws: FileError.self) { try read(text) }
    #expect(error?.description.contains("is already defined at 1:") == true, "\(error?.description ?? "")")
    #expect(error?.place != nil)
  }

  @Test("A key that Swift considers equal to a known one but has other octets is not known")
  func keysAreOctets() {
    // U+212A is the Kelvin sign, which normalises to K.
    for text in [
      "{ limits: { 'scans\u{200D}': 1 } }", "{ restoration: { '\u{212A}eep': 1 } }",
      "{ 'n\u{E1}me': 1, 'na\u{301}me': 1 }",
    ] {
      let error = #expect(throws: FileError.self) { try read(text) }
      #expect(error?.description.contains("this name is not known") == true, "\(error?.description ?? "")")
    }
  }

  @Test func anAdapterIsFoundInTheFile() throws {
    var configuration = try read("{\n adapters: ['hci0',\n 'wlan0'] }")
    #expect(configuration.adapters.failure(1, "x")?.description == "bled.json:3:2: adapters[1]: x")
    configuration.adapters.names = ["wlan0"]
    #expect(configuration.adapters.failure(0, "x") == nil, "it is from somewhere else")
    #expect(try read("{ adapters: ['a'] }") == read("{\n  adapters: ['a'] }"))
  }

  @Test(arguments: [
    ("{\n  \"adapters\": [\"hci0\", 1],\n}", "bled.json:2:24: adapters[1]: give a list of one or more strings"),
    ("{ limits: {\n    perUser: { scan: 1 } } }", "bled.json:2:16: limits.perUser.scan: this name is not known"),
    ("{ policy: { scan: ['everyone', 'me'] } }", "bled.json:1:32: policy.scan[1]: give a list of \"user:NAME\""),
    ("{ metrics: { port: 9459 } }", "bled.json:1:12: metrics: remove \"metrics\": \"bleshell metrics --listen"),
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
