import ArgumentParser
import Beacons
import BledClient
import BledRPC
import Bluetooth

/// `bleshell beacon`
struct BeaconCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "beacon", abstract: "Makes this machine a beacon: iBeacon, AltBeacon or Eddystone.",
    usage: """
      bleshell beacon --uuid <uuid> [--major <major>] [--minor <minor>] [--alt [--company <company>]]
      bleshell beacon --url <url>
      bleshell beacon --namespace <hex> --instance <hex>
      """,
    discussion: "Advertises until Ctrl-C, or for --time seconds; it is not connectable.")

  @Option(help: "The UUID of an iBeacon, or with --alt of an AltBeacon.") var uuid: BluetoothUUID?
  @Option(help: "Its first number (default: 0).") var major: UInt16?
  @Option(help: "Its second number (default: 0).") var minor: UInt16?
  @Flag(help: "An AltBeacon instead of an iBeacon.") var alt = false
  @Option(help: "The company identifier of an AltBeacon (default: 65535, which is for tests).") var company: UInt16?
  @Option(help: "The URL of an Eddystone beacon, http or https, at most 17 octets when compressed.") var url: String?
  @Option(help: "The namespace of an Eddystone beacon, 20 hex digits.") var namespace: String?
  @Option(help: "Its instance, 12 hex digits.") var instance: String?
  @Option(parsing: .unconditional, help: "The signal strength that a receiver has at 1 m, in dBm, -127 to 20.")
  var power = -59
  @Option(help: "The advertising interval in seconds, 0.02 to 10.24 (default: 0.1).") var interval: Double?
  @Option(help: "The adapter (default: the first).", completion: ShellCompletion.adapters) var adapter: String?
  @Option(help: "Stop after this many seconds.") var time: Double?
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    try checkTime(time)
    guard (-127...20).contains(power) else { throw ValidationError("--power must be -127 to 20 dBm") }
    guard [uuid != nil, url != nil, namespace != nil].count(where: { $0 }) == 1 else {
      throw ValidationError("give one of --uuid (iBeacon, AltBeacon), --url and --namespace (Eddystone)")
    }
    guard uuid?.short32 == nil else {
      throw ValidationError("--uuid must have 128 bits, such as E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")
    }
    guard uuid != nil || major == nil && minor == nil && !alt else {
      throw ValidationError("--major, --minor and --alt go with --uuid")
    }
    guard alt || company == nil else { throw ValidationError("--company goes with --alt") }
    guard (namespace == nil) == (instance == nil) else {
      throw ValidationError("--namespace and --instance go together")
    }
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    var (parameters, beacon) = try content()
    (parameters.adapter, parameters.interval, parameters.connectable) = (adapter, interval, false)
    let client = try await shell.connection()
    try await shell.requireAdapter()
    let advertisement = try await client.advertise(parameters)
    if output.json {
      try output.object(OnAir(beacon: beacon, adapter: advertisement.adapter, interval: advertisement.interval))
    } else {
      output.line("on the air, \(advertisement.adapter)\(every(advertisement.interval)): \(beacon.text)")
    }
    try await follow(advertisement, of: client, for: time, output)
    if shell.isLineMode { try await client.stopAdvertising(advertisement.advertising) }
  }

  private struct OnAir: Encodable {
    let beacon: DecodedData
    let adapter: String
    let interval: Double
  }

  /// The advertised data, and its description for people.
  private func content() throws -> (AdvertisingStart.Params, DecodedData) {
    let power = Int8(clamping: power)
    if let uuid {
      let (major, minor) = (major ?? 0, minor ?? 0)
      if alt {
        let beacon = AltBeacon(company: company ?? 0xFFFF, uuid: uuid, major: major, minor: minor, measuredPower: power)
        return (.init(manufacturerData: HexBytes(beacon.manufacturerData.octets)), beacon.decoded)
      }
      let beacon = IBeacon(uuid: uuid, major: major, minor: minor, measuredPower: power)
      return (.init(manufacturerData: HexBytes(beacon.manufacturerData.octets)), beacon.decoded)
    }
    // Eddystone contains the power at 0 m, which is 41 dB more.
    let txPower = Int8(clamping: min(max(self.power + 41, -100), 20))
    let data: [UInt8]
    if let url {
      do {
        data = try Eddystone.urlData(txPower: txPower, url: url)
      } catch {
        throw Failure(error.message, status: 64)
      }
    } else {
      guard let namespace = namespace.flatMap({ Hex.decode($0) }), let instance = instance.flatMap({ Hex.decode($0) }),
        let uid = Eddystone.uidData(txPower: txPower, namespace: namespace, instance: instance)
      else { throw Failure("--namespace must be 20 hex digits, and --instance 12", status: 64) }
      data = uid
    }
    guard let frame = Eddystone(data) else { throw Failure("this is not a frame of Eddystone", status: 64) }
    let parameters = AdvertisingStart.Params(
      services: [Eddystone.service], serviceData: ["\(Eddystone.service)": HexBytes(data)])
    return (parameters, frame.decoded)
  }
}
