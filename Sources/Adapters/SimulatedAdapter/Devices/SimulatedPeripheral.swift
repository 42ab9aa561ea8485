import Adapter
import Bluetooth
import ScenarioRules
import Scenarios

/// A device of the scenario: it advertises while it is present and not connected, and serves its GATT tree to any
/// central.
final class SimulatedPeripheral: Connectable, CommandedDevice {
  let address: DeviceAddress
  let name: String
  let pairing: DevicePairing
  /// The device's end of a link, with its present address.
  var linkEnd: SimulatedLink.End {
    var end = end
    end.address = privateAddress?.address ?? address
    return end
  }

  private unowned let air: Air
  private var description: DeviceDescription
  private let end: SimulatedLink.End
  private let signal: Signal
  private let valueLoss: ValueLoss
  private let privateAddress: PrivateAddress?
  private var generator: SeededGenerator
  private var advertiser: Advertiser?
  private(set) var isPresent = false
  private var link: SimulatedLink?
  /// Rings when the link stops carrying packets.
  private var lossAlarm: (any ScheduledWork)?
  /// Rings when it is back after a restart.
  private var restartAlarm: (any ScheduledWork)?
  /// Made at the first connection: most devices are only ever scanned.
  private var server: DeviceServer?
  /// Its boot loader, if that has an address of its own.
  private(set) var bootLoader: SimulatedPeripheral?
  /// Its Secure DFU, which its boot loader shares.
  private let dfu: BootLoaderHost?

  init(_ description: DeviceDescription, air: Air, dfu: BootLoaderHost? = nil) {
    self.description = description
    self.air = air
    address = description.address
    name = description.name
    self.dfu = dfu ?? description.bootLoader.map { BootLoaderHost($0, of: description.address, in: air.context) }
    generator = air.generator(Stream.behaviour.of(description.address))
    let pairing = DevicePairing(
      description.pairing, of: description.address, hasPrivateAddresses: description.privateAddress != nil, air: air)
    self.pairing = pairing
    privateAddress = PrivateAddress(
      of: description.address, period: description.privateAddress, air.keys.keys, in: air.context)
    signal = Signal(description.signal, generator: air.generator(Stream.signal.of(description.address)))
    valueLoss = ValueLoss(
      description.losses.value, generator: air.generator(Stream.losses.of(description.address)))
    end = SimulatedLink.End(
      address: description.address, maximumMTU: description.mtu, signal: signal, valueLoss: valueLoss, party: pairing,
      radio: description.radio)
    advertiser = Advertiser(
      .device, owner: self,
      parameters: AdvertisingParameters(
        isConnectable: description.isConnectable, interval: description.interval, data: description.data,
        scanResponse: description.scanResponse), phy: description.isLongRange ? .leCoded : .le1M,
      privateAddress: privateAddress, reportLoss: description.losses.report,
      stream: Stream.advertising.of(description.address), air: air)
    pairing.onBonded = { [weak self] in self?.server?.bonded() }
    guard dfu == nil, self.dfu != nil else { return }
    bootLoader = description.separateBootLoader.map { SimulatedPeripheral($0, air: air, dfu: self.dfu) }
    self.dfu?.restart = { [weak self] inBootLoader, name, time in self?.restart(inBootLoader, name, for: time) }
  }

  func setPresent(_ isPresent: Bool) {
    restartAlarm?.cancel()
    self.isPresent = isPresent
    if !isPresent { link?.vanish(HCIReason.hardwareFailure.error) }
    advertise()
  }

  var isConnected: Bool { link != nil }

  func disconnect(reason: UInt8) { link?.disconnect(telling: HCIReason.error(reason)) }

  func setValue(_ value: [UInt8], of characteristic: BluetoothUUID) -> Bool {
    runningServer().setValue(value, of: characteristic)
  }

  /// True if it has such a characteristic at present.
  func has(_ characteristic: BluetoothUUID) -> Bool { runningServer().has(characteristic) }

  func change(_ change: DeviceChange) {
    if let new = change.signal { signal.description = new }
    if let new = change.losses {
      description.losses = new
      valueLoss.probability = new.value
      advertiser?.reportLoss = new.report
      if let link { scheduleLoss(of: link) }
    }
    if let new = change.pairing { pairing.description = new }
    if let new = change.connectDelay { description.connectDelay = new }
    if let new = change.advertising {
      advertiser?.parameters.data = new.data
      advertiser?.parameters.scanResponse = new.scanResponse
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

  private func runningServer() -> DeviceServer {
    if let server { return server }
    let server = DeviceServer(description, dfu: dfu, in: air.context)
    server.firmware?.disconnect = { [weak self] in self?.link?.disconnect() }
    server.firmware?.restart = { [weak self] in self?.restart(for: $0) }
    self.server = server
    return server
  }

  /// Is away for so long; nil: until it is put back.
  private func restart(for time: Duration?) {
    link?.disconnect()
    guard isPresent else { return }
    isPresent = false
    advertise()
    guard let time else { return }
    restartAlarm = air.scheduler.schedule(after: time) { [weak self] in self?.setPresent(true) }
  }

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
      new.restartAlarm = air.scheduler.schedule(after: time) { [weak new] in new?.setPresent(true) }
    } else {
      description.isInBootLoader = inBootLoader || description.bootLoader?.entry == .button
      // The peer is notified before the link ends.
      server?.setServices(description.allServices)
      air.scheduler.schedule(after: .milliseconds(200)) { [weak self] in self?.restart(for: time) }
    }
  }

  private func advertise(_ name: String) {
    description.advertise(name)
    advertiser?.parameters.data = description.data
    advertiser?.parameters.scanResponse = description.scanResponse
  }

  private func scheduleLoss(of link: SimulatedLink) {
    lossAlarm?.cancel()
    lossAlarm = (description.losses.link?.draw(&generator)).map { time in
      air.scheduler.schedule(after: time) { [weak link] in link?.lose() }
    }
  }

  private func advertise() {
    guard let advertiser else { return }
    if isPresent, link == nil { air.add(advertiser) } else { air.remove(advertiser) }
  }

  // MARK: - Connectable

  func connectDelay() -> Duration { description.connectDelay.draw(&generator) }

  func answersConnect() -> Bool { !generator.chance(description.losses.connect) }

  func accept(_ link: SimulatedLink) {
    self.link = link
    advertise()
    link.onEnd = { [weak self] in
      guard let self else { return }
      self.link = nil
      pairing.linkEnded()
      advertise()
    }
    runningServer().attach(link) { [weak link] in
      guard let link, link.isBonded else { return nil }
      return link.peerIdentity ?? link.peer
    }
    if let psm = description.echoPSM {
      link.onChannelRequest = { $0 == psm ? ChannelListener(parameters: .init()) { ChannelEcho($0) } : nil }
    }
    if pairing.requestsSecurity { link.requestSecurity() }
    if let time = description.disconnectAfter?.draw(&generator) {
      air.scheduler.schedule(after: time) { [weak link] in link?.disconnect() }
    }
    scheduleLoss(of: link)
  }
}
