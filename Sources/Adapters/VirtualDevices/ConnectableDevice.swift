import Adapter
import Bluetooth
import Controllers
import HCI
import Scenarios
import VirtualController

/// A device that a central can connect to: a host of our own on a controller of the air, with the GATT server of the
/// scenario. It advertises while it is present and has no link.
final class ConnectableDevice: CommandedDevice {
  let name: String
  let address: DeviceAddress
  private(set) var isPresent = false
  let host: ScenarioHost
  /// Its boot loader, if that has an address of its own.
  private(set) var bootLoader: ConnectableDevice?

  private static let advertisement = AdvertisingSetID(1)

  private var description: DeviceDescription
  private let context: SimulationContext
  private let reception: Reception
  private let valueLoss: ValueLoss
  private var generator: SeededGenerator
  /// Made at the first link: most devices are only ever scanned.
  private var server: DeviceServer?
  /// Its Secure DFU, which its boot loader shares.
  private let dfu: BootLoaderHost?
  /// Rings when it is back after a restart.
  private var restartAlarm: (any ScheduledWork)?
  /// Rings when the link stops carrying packets.
  private var lossAlarm: (any ScheduledWork)?

  init(_ description: DeviceDescription, on world: VirtualAir, dfu: BootLoaderHost? = nil) {
    (self.description, context) = (description, world.context)
    (name, address) = (description.name, description.address)
    self.dfu = dfu ?? description.bootLoader.map { BootLoaderHost($0, of: description.address, in: world.context) }
    generator = context.generator(Stream.behaviour.of(description.address))
    reception = Reception(description, in: context)
    valueLoss = ValueLoss(
      description.losses.value, generator: context.generator(Stream.losses.of(description.address, 1)))
    host = ScenarioHost(
      ControllerModel(description.radio, address: address, isExtended: description.isLongRange), name: name,
      address: address, pairing: description.pairing, privateAddress: description.privateAddress, on: world)
    host.controller.signal = { [reception] in reception.next() }
    host.controller.linkSignal = { [reception] in reception.strength() }
    host.controller.receivesRequest = { [weak self] in self?.receivesRequest() ?? true }
    host.controller.requestDelay = { [weak self] in self?.connectDelay() ?? .zero }
    host.controller.damages = { [valueLoss] packet in
      guard valueLoss.probability > 0, let attribute = packet.attribute else { return false }
      return valueLoss.drops(attribute)
    }
    if description.interval > Self.longestInterval { host.controller.longInterval = description.interval }
    host.onLink = { [weak self] in self?.serve($0) }
    host.onLinkEvent = { if case .channel(let channel) = $0 { ChannelEcho(channel) } }
    host.onBonded = { [weak self] in self?.server?.bonded() }
    host.onEnd = { [weak self] in self?.linkEnded() }
    publishEcho()
    guard dfu == nil, self.dfu != nil else { return }
    bootLoader = description.separateBootLoader.map { ConnectableDevice($0, on: world, dfu: self.dfu) }
    self.dfu?.restart = { [weak self] inBootLoader, name, time in self?.restart(inBootLoader, name, for: time) }
  }

  private func publishEcho() {
    guard let psm = description.echoPSM else { return }
    // Its adapter has no other listener.
    _ = try? host.adapter.publishChannel(psm, ChannelParameters())
  }

  private func receivesRequest() -> Bool { !generator.chance(description.losses.connect) }
  private func connectDelay() -> Duration { description.connectDelay.draw(&generator) }

  // MARK: - On the air

  func setPresent(_ isPresent: Bool) {
    restartAlarm?.cancel()
    self.isPresent = isPresent
    host.setPower(isPresent)
    advertise()
  }

  private func advertise() {
    host.adapter.setAdvertising(Self.advertisement, isPresent && host.link == nil ? parameters : nil)
  }

  /// The longest interval of advertisements (Core 5.4, Vol 4, Part E, 7.8.5).
  private static let longestInterval = Duration.milliseconds(10240)

  private var parameters: AdvertisingParameters {
    let interval = min(description.interval, Self.longestInterval)
    guard description.isLongRange else {
      return AdvertisingParameters(interval: interval, data: description.data, scanResponse: description.scanResponse)
    }
    // A connectable extended advertisement has no response.
    var parameters = AdvertisingParameters(interval: interval, data: description.data + description.scanResponse)
    parameters.isExtended = true
    (parameters.primaryPHY, parameters.secondaryPHY) = (.leCoded, .leCoded)
    return parameters
  }

  // MARK: - Its link

  private func serve(_ link: any Link) {
    advertise()
    runningServer().attach(link) { [weak host] in host?.bondedPeer }
    if description.pairing?.requestsSecurity == true { host.requestSecurity() }
    if let time = description.disconnectAfter?.draw(&generator) {
      context.scheduler.schedule(after: time) { [weak link] in link?.disconnect() }
    }
    scheduleLoss()
  }

  private func linkEnded() {
    lossAlarm?.cancel()
    host.controller.isInReach = true
    advertise()
  }

  private func scheduleLoss() {
    lossAlarm?.cancel()
    lossAlarm = (description.losses.link?.draw(&generator)).map { time in
      context.scheduler.schedule(after: time) { [weak self] in self?.host.controller.isInReach = false }
    }
  }

  private func runningServer() -> DeviceServer {
    if let server { return server }
    let server = DeviceServer(description, dfu: dfu, in: context)
    server.firmware?.disconnect = { [weak self] in self?.host.link?.disconnect() }
    server.firmware?.restart = { [weak self] in self?.restart(for: $0) }
    self.server = server
    return server
  }

  // MARK: - Restarts

  /// Is away for so long; nil: until it is put back.
  private func restart(for time: Duration?) {
    guard isPresent else { return }
    isPresent = false
    advertise()
    // The peer is notified before the controller has no power.
    host.link?.disconnect()
    restartAlarm = context.scheduler.schedule(after: Self.farewell) { [weak self] in
      guard let self else { return }
      host.setPower(false)
      guard let time else { return }
      restartAlarm = context.scheduler.schedule(after: time) { [weak self] in self?.setPresent(true) }
    }
  }

  /// The time for the end of a link before a restart.
  private static let farewell = Duration.milliseconds(200)

  /// Starts the boot loader, or the application: as a device of another address, or as this one.
  private func restart(_ inBootLoader: Bool, _ name: String?, for time: Duration) {
    if let bootLoader {
      let (old, new) = inBootLoader ? (self, bootLoader) : (bootLoader, self)
      if let name { bootLoader.advertise(name) }
      guard old.isPresent else {
        if new.isPresent { new.restart(for: time) }
        return
      }
      old.restart(for: nil)
      new.restartAlarm = context.scheduler.schedule(after: Self.farewell + time) { [weak new] in
        new?.setPresent(true)
      }
    } else {
      description.isInBootLoader = inBootLoader || description.bootLoader?.entry == .button
      // The peer is notified before the link ends.
      server?.setServices(description.allServices)
      context.scheduler.schedule(after: Self.farewell) { [weak self] in self?.restart(for: time) }
    }
  }

  private func advertise(_ name: String) {
    description.advertise(name)
    advertise()
  }
}

extension ACLDataPacket {
  /// The attribute packet that begins in it; nil for other data.
  fileprivate var attribute: [UInt8]? {
    guard boundary != 1, data.dropFirst(2).starts(with: [4, 0]) else { return nil }
    return Array(data.dropFirst(4))
  }
}

// MARK: - Commands

extension ConnectableDevice {
  var isConnected: Bool { host.link != nil }

  func disconnect(reason: UInt8) { host.controller.disconnect(HCIStatus(rawValue: reason)) }

  func setValue(_ value: [UInt8], of characteristic: BluetoothUUID) -> Bool {
    runningServer().setValue(value, of: characteristic)
  }

  func has(_ characteristic: BluetoothUUID) -> Bool { runningServer().has(characteristic) }

  func change(_ change: DeviceChange) {
    reception.change(change)
    if let new = change.losses {
      description.losses = new
      valueLoss.probability = new.value
      if isConnected { scheduleLoss() }
    }
    if let new = change.pairing { host.pairing = new }
    if let new = change.connectDelay { description.connectDelay = new }
    if let new = change.advertising {
      (description.data, description.scanResponse) = (new.data, new.scanResponse)
      advertise()
    }
    if let new = change.faults {
      description.faults = new
      server?.misbehaviour.change(new)
    }
    if let new = change.responseDelay {
      description.responseDelay = new
      server?.misbehaviour.responseDelay = new
    }
    if let new = change.services {
      description.services = new
      server?.setServices(description.allServices)
    }
  }
}
