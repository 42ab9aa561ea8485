import BledRPC
import Glibc
import TestSupport
import Testing

/// Unusual options of `bleshell advertise`, on a simulated adapter.
@Suite(.serialized) struct BleshellAdvertiseTests {
  private static let extended = "{ adapter: { advertisingDataLength: 300 } }"

  @Test("everything that can be asked for is sent, and the end by itself is told")
  func everything() throws {
    let daemon = try DaemonProcess(scenario: Self.extended)
    let counted = try daemon.bleshell(
      "advertise", "--not-connectable", "--extended", "--name", "Far", "--solicit", "180D", "--uri", "https://a.org",
      "--raw", "0319660302ff07", "--tx-power", "-8", "--include-tx-power", "--channel", "37", "--channel", "39",
      "--own-address", "C0:11:22:33:44:55", "--phy", "coded", "--secondary-phy", "2M", "--count", "3", "--interval",
      "0.02")
    #expect(counted.status == 0, "\(counted.errors)")
    #expect(counted.errors.contains("the advertisement has ended: all its events were sent"))
    let directed = try daemon.bleshell("advertise", "--to", "C0:11:22:33:44:55", "--high-duty")
    #expect(directed.errors.contains("the advertisement has ended: its time is over"), "\(directed.errors)")
    #expect(try daemon.bleshell("advertise", "--anonymous", "--time", "0.3").status == 0)
    #expect(try daemon.bleshell("advertise", "--scannable", "--time", "0.3").status == 0)
  }

  @Test("data is sent in subevents of a train, and the responses of another bleshell are printed")
  func responses() throws {
    let folder = try TemporaryFolder()
    let kind = TestAir.isVirtual ? "virtual" : "simulated"
    let daemon = try DaemonProcess(
      scenario: Self.extended, arguments: ["--adapter", "\(kind):\(folder.path)/scenario.json"], folder: folder)
    let advertising = try daemon.start([
      "advertise", "--adapter", daemon.adapter(0), "--subevents", "2", "--slots", "2", "--periodic-interval", "1",
      "--subevent-interval", "0.3", "--slot-delay", "0.25", "--send", "1=0102",
    ])
    let adapters = try daemon.bleshell("adapters", "--json").objects()
    guard case .text(let address)? = adapters.first(where: { $0["adapter"] == .text(daemon.adapter(0)) })?["address"]
    else {
      Issue.record("no address in \(adapters)")
      return
    }
    // A response that a busy machine sends too late is sent again in the next interval.
    let sync = try daemon.bleshell(
      "sync", address, "--adapter", daemon.adapter(1), "--subevent", "1", "--respond", "a55a", "--slot", "1",
      interruptedWhen: { _ in advertising.output.contains("a55a") || advertising.hasEnded })
    #expect(sync.status == 0 && sync.output.contains("subevents: 2"), "\(sync)")
    #expect(sync.output.contains("subevent 1  0102"), "\(sync)")
    advertising.send(signal: SIGINT)
    #expect(try advertising.exitStatus() == 0, "\(advertising.errors)")
    #expect(advertising.output.contains("subevent 1  slot 1  "), "\(advertising.output)")
    let plain = try daemon.start(["advertise", "--adapter", daemon.adapter(0), "--periodic", "0319660302ff07"])
    let refused = try daemon.bleshell("sync", address, "--adapter", daemon.adapter(1), "--respond", "00", "--slot", "1")
    #expect(refused.status == 1 && refused.errors.contains("no slots for responses"), "\(refused)")
    plain.send(signal: SIGINT)
    #expect(try plain.exitStatus() == 0, "\(plain.errors)")
    for arguments in [
      ["--slots", "2"], ["--send", "0=00"], ["--subevents", "2", "--send", "2=00"], ["--subevents", "129"],
      ["--subevents", "2", "--send", "0=01", "--send", "0=02"], ["--subevents", "2", "--slots", "0"],
      ["--subevents", "1", "--periodic", "0319660302ff07"],
    ] {
      #expect(try daemon.bleshell(arguments: ["advertise"] + arguments).status == 64, "\(arguments)")
    }
    let short = try daemon.bleshell("advertise", "--subevents", "14")
    #expect(short.status == 64 && short.errors.contains("--periodic-interval of at least 0.105"), "\(short)")
  }

  @Test("what cannot be sent is refused with the limit of the adapter")
  func refusals() throws {
    let daemon = try DaemonProcess(scenario: Self.extended)
    let long = try daemon.bleshell(
      "advertise", "--extended", "--not-connectable", "--manufacturer-data", String(repeating: "00", count: 250),
      "--service-data", "180F=" + String(repeating: "00", count: 60))
    #expect(long.status != 0 && long.errors.contains("this adapter sends at most 300"), "\(long.errors)")
    #expect(try daemon.bleshell("advertise", "--raw", "0319").status == 64)
    #expect(try daemon.bleshell("advertise", "--high-duty").errors.contains("\"directedTo\""))
  }

  @Test("an adapter with legacy advertising only refuses the rest")
  func legacyOnly() throws {
    let refused = try DaemonProcess(scenario: "{ adapter: { advertisingSets: 1 } }").bleshell("advertise", "--extended")
    #expect(refused.status != 0 && refused.errors.contains("legacy advertising only"), "\(refused.errors)")
  }
}
