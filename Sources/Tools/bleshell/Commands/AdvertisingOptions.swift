import ArgumentParser
import BledRPC
import Bluetooth

/// Options of `bleshell advertise` for sending, and for unusual data.
struct AdvertisingOptions: ParsableArguments {
  @Option(help: "A service to solicit; can be repeated.") var solicit: [BluetoothUUID] = []
  @Option(help: "A URI to advertise.") var uri: String?
  @Option(help: "Further AD structures as they are sent, in hex: each its length, its type and its data.")
  var raw: String?
  @Flag(help: "Answer scan requests without accepting connections.") var scannable = false
  @Flag(help: "Send extended PDUs: up to 1650 octets, for scanners of Bluetooth 5.0 and later.") var extended = false
  @Flag(help: "Leave out the address; implies --extended.") var anonymous = false
  @Option(help: "Only this device may connect: its address or its identifier.") var to: String?
  @Flag(help: "With --to: high-duty directed advertising, for 1.28 s.") var highDuty = false
  @Option(parsing: .unconditional, help: "The transmit power to aim for, in dBm, -127 to 20.") var txPower: Int?
  @Flag(help: "Include the transmit power in the header; implies --extended.") var includeTxPower = false
  @Option(help: "A primary channel, 37, 38 or 39; can be repeated (default: all).") var channel: [Int] = []
  @Option(help: "A static random address to advertise with.") var ownAddress: String?
  @Option(help: "The PHY on which it begins; all but 1M imply --extended.") var phy: PrimaryPHYChoice?
  @Option(help: "The PHY on which it goes on; implies --extended.") var secondaryPhy: PHYChoice?
  @Option(help: "Stop after this many advertising events, 1 to 255.") var count: Int?
  @Option(help: "Periodic advertising, too, with these AD structures in hex; implies --extended and --not-connectable.")
  var periodic: String?
  @Option(help: "With --periodic or --subevents: the time between two packets in seconds, 0.0075 to 81.91875.")
  var periodicInterval: Double?
  @Option(
    help: """
      With --periodic or --subevents: transfer the train to this device, over a connection: its address, name or \
      identifier.
      """,
    completion: ShellCompletion.devices)
  var transferTo: String?

  /// Adds the given options to the params of a call.
  /// - Parameter train: The slots of its train for responses.
  func apply(to params: inout AdvertisingStart.Params, _ train: TrainOptions) throws {
    params.solicitedServices = solicit.isEmpty ? nil : solicit
    params.uri = uri
    params.structures = try raw.map { try Self.structures($0, of: "--raw") }
    if scannable { (params.scannable, params.connectable) = (true, false) }
    if extended || anonymous || includeTxPower || secondaryPhy != nil || phy ?? .le1M != .le1M {
      params.extended = true
    }
    if anonymous { (params.anonymous, params.connectable) = (true, nil) }
    params.directedTo = to
    if highDuty { params.highDuty = true }
    params.txPower = txPower
    if includeTxPower { params.includeTxPower = true }
    params.channels = channel.isEmpty ? nil : channel
    params.ownAddress = ownAddress
    params.primaryPHY = phy
    params.secondaryPHY = secondaryPhy
    params.count = count
    let responses = try train.responses(within: periodicInterval ?? 0.1)
    if periodic != nil || responses != nil {
      guard periodic == nil || responses == nil else {
        throw Failure("--periodic does not go with --subevents: the data of subevents is that of --send", status: 64)
      }
      let structures = try periodic.map { try Self.structures($0, of: "--periodic") }
      params.periodic = .init(interval: periodicInterval, structures: structures)
      params.periodic?.responses = responses
      (params.extended, params.connectable) = (true, anonymous ? nil : false)
    } else if periodicInterval != nil || transferTo != nil {
      throw Failure("--periodic-interval and --transfer-to go with --periodic or --subevents", status: 64)
    }
  }

  private static func structures(_ hex: String, of option: String) throws -> [AdvertisingStart.Structure] {
    let parsed = AdvertisingData(parsing: try octets(hex))
    guard parsed.malformedCount == 0, try parsed.encode() == octets(hex) else {
      throw Failure(
        "\(option) must be AD structures: each its length, its type and its data, such as 03196603", status: 64)
    }
    return parsed.structures.map { .init(type: Int($0.type.rawValue), data: HexBytes($0.data)) }
  }
}
