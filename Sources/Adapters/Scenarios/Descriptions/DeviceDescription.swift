import Bluetooth
import JSONFiles
import ScenarioRules

/// A device that advertises and, if it is connectable, serves a GATT tree.
package struct DeviceDescription: ReadableFromFile, Sendable {
  /// The Device Name of its Generic Access service.
  package var name: String
  package var address: DeviceAddress
  package var isConnectable: Bool
  /// True if it advertises, and is connected to, on the coded PHY.
  package var isLongRange: Bool
  /// The time between two advertisements, without the random delay.
  package var interval: Duration
  package var data: [UInt8]
  package var scanResponse: [UInt8]
  package var appearance: UInt16
  package var signal: SignalDescription
  /// The pairing description; nil if it does not pair.
  package var pairing: PairingDescription?
  /// The lifetime of a resolvable private address; nil if it advertises its own address.
  package var privateAddress: Duration?
  /// The largest ATT MTU it supports.
  package var mtu: Int
  /// The features of its radio on a link.
  package var radio: RadioDescription
  /// The time from the answered advertisement to the link.
  package var connectDelay: TimeSpan
  /// The time from a request to its response.
  package var responseDelay: TimeSpan
  package var losses: Losses
  package var faults: Faults
  /// The time on a link after which the device disconnects; nil for never.
  package var disconnectAfter: TimeSpan?
  /// True if its GATT service has a Database Hash.
  var hasDatabaseHash: Bool
  package var services: [ServiceDescription]
  /// Its management with MCUmgr; nil if it has none.
  package var firmware: FirmwareDescription?
  /// Its boot loader for Nordic's Secure DFU; nil if it has none.
  package var bootLoader: BootLoaderDescription?
  /// True while it runs its boot loader.
  package var isInBootLoader = false
  /// The number under which it accepts L2CAP channels, and echoes their packets; nil if it takes none.
  package var echoPSM: UInt16?

  /// The losses.
  package struct Losses: ReadableFromFile, Sendable {
    /// The probability that an attempt to connect fails.
    package var connect = 0.0
    /// The probability that an advertisement is not received.
    package var report = 0.0
    /// The probability that the adapter has no room for a notified value.
    package var value = 0.0
    /// The time on a link after which no packet is received; nil for never.
    package var link: TimeSpan?

    package init() {}

    private enum Keys: String, CaseIterable { case connect, report, value, link }

    package init(_ value: FileValue) throws(FileError) {
      let members = try FileMembers(value, Keys.self)
      connect = try members.number(.connect, in: 0...1, default: 0)
      report = try members.number(.report, in: 0...1, default: 0)
      self.value = try members.number(.value, in: 0...1, default: 0)
      link = try members.optional(.link)
    }
  }

  /// Its protocol violations.
  package struct Faults: ReadableFromFile, Sendable {
    /// The probability that it sends random octets instead of a packet.
    var nonsense = 0.0
    /// The time on a link after which it sends nothing; nil for never.
    var mute: TimeSpan?
    /// The interval at which, on a link, its last service is removed or added again; nil for never.
    var changeServices: TimeSpan?
    /// The faults of its answers.
    package var answers: [AnswerFault] = []

    package init() {}

    private enum Keys: String, CaseIterable { case nonsense, mute, changeServices, answers }

    package init(_ value: FileValue) throws(FileError) {
      let members = try FileMembers(value, Keys.self)
      nonsense = try members.number(.nonsense, in: 0...1, default: 0)
      mute = try members.optional(.mute)
      changeServices = try members.optional(.changeServices)
      answers = try members.value(.answers, default: [])
    }
  }

  private enum Keys: String, CaseIterable {
    case name, address, addressType, connectable, interval, advertising, scanResponse, rssi, mtu, connectDelay
    case responseDelay, losses, faults, disconnectAfter, databaseHash, services
    case pairing, privateAddress, radio, longRange, echoPSM, firmware, bootLoader
  }

  package init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    name = try members.required(.name)
    address = try members.address(of: "device", .address, type: .addressType)
    isConnectable = try members.value(.connectable, default: true)
    interval = try members.seconds(.interval, in: 0.02...10485.76, default: 0.1)
    let advertising = try members.optional(.advertising) ?? AdvertisingDescription()
    let response = try members.optional(.scanResponse, AdvertisingDescription.self)
    appearance = advertising.appearance ?? response?.appearance ?? 0
    do throws(BluetoothError) {
      (data, scanResponse) = try advertising.encode(withScanResponse: response)
    } catch {
      throw members.failure(.advertising, error.message)
    }
    pairing = try members.optional(.pairing)
    privateAddress = try members.rotation(.privateAddress)
    signal = try members.optional(.rssi) ?? SignalDescription()
    mtu = try members.integer(.mtu, in: 23...517, default: 247)
    radio = try members.optional(.radio) ?? RadioDescription()
    isLongRange = try members.value(.longRange, default: false)
    if isLongRange, !radio.phys.contains(.leCoded) {
      throw members.failure(.longRange, "it advertises on the coded PHY: list \"coded\" in the \"phys\" of its radio")
    }
    connectDelay = try members.value(.connectDelay, default: TimeSpan(0.03))
    responseDelay = try members.value(.responseDelay, default: TimeSpan(0))
    losses = try members.optional(.losses) ?? Losses()
    faults = try members.optional(.faults) ?? Faults()
    disconnectAfter = try members.optional(.disconnectAfter)
    hasDatabaseHash = try members.value(.databaseHash, default: false)
    services = try members.value(.services, default: [])
    firmware = try members.optional(.firmware)
    bootLoader = try members.optional(.bootLoader)
    isInBootLoader = bootLoader?.entry == .button
    let characteristics = services.flatMap(\.characteristics)
    let known = Set(characteristics.map(\.uuid))
    for case .echo(let source?) in characteristics.compactMap(\.value.rule) where !known.contains(source) {
      throw members.failure(.services, "a rule echoes \(source), which is no characteristic of this device: add it")
    }
    echoPSM = try members.optional(.echoPSM) { value throws(FileError) in try value.integer(in: 1...255) }
  }
}

extension DeviceDescription {
  /// The services of its file, and those of its management and its boot loader. A boot loader has no others.
  package var allServices: [ServiceDescription] {
    let dfu = bootLoader.map { [$0.service(inBootLoader: isInBootLoader)] } ?? []
    guard !isInBootLoader else { return dfu }
    return services + (firmware == nil ? [] : [FirmwareDescription.service]) + dfu
  }
}

/// The received signal strength of a device.
package struct SignalDescription: ReadableFromFile, Sendable {
  /// The mean, in dBm.
  var base = -60.0
  /// The largest deviation of a single packet, in dB.
  var noise = 2.0
  /// The largest drift from one packet to the next, in dB.
  var walk = 0.0

  /// The signals that a receiver can report, in dBm (Core 5.4, Vol 4, Part E, 7.7.65.2).
  private static let bases = -127.0...20.0

  package init() {}

  private enum Keys: String, CaseIterable { case base, noise, walk }

  package init(_ value: FileValue) throws(FileError) {
    if value.isNumber {
      let fixed = try value.number()
      guard Self.bases.contains(fixed) else {
        throw value.failure("\(fixed) is out of range: give a number from -127 to 20")
      }
      (base, noise) = (fixed, 0)
      return
    }
    let members = try FileMembers(value, Keys.self)
    base = try members.number(.base, in: Self.bases, default: base)
    noise = try members.number(.noise, in: 0...100, default: noise)
    walk = try members.number(.walk, in: 0...100, default: walk)
  }
}
