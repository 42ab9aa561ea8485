import Adapter
import Bluetooth
import HCI
import Host

/// The signalling on the links of one controller: runs each link's `SignallingMachine` by the clock, with the requests
/// for other parameters that the devices' hosts decide.
final class HostSignalling {
  private struct Entry {
    let peer: DeviceAddress
    var machine: SignallingMachine
    /// Rings when it has waited too long.
    var alarm: (any ScheduledWork)?
    /// The pending request for other parameters.
    var update: ((BluetoothError?) -> Void)?
    /// The parameters that programs want.
    var wish: ConnectionParameters?
  }

  /// The maximum interval between events at which a device that requests other parameters listens.
  var longestInterval: Duration?
  private unowned let links: HostLinks
  private let context: AdapterContext
  private var entries: [ConnectionHandle: Entry] = [:]

  init(_ links: HostLinks, in context: AdapterContext) {
    self.links = links
    self.context = context
  }

  /// A link was established.
  func began(_ handle: ConnectionHandle, _ role: LinkRole, _ peer: DeviceAddress) {
    ended(handle)
    entries[handle] = Entry(peer: peer, machine: SignallingMachine(role: role))
  }

  /// A link has ended.
  func ended(_ handle: ConnectionHandle) {
    guard let entry = entries.removeValue(forKey: handle) else { return }
    entry.alarm?.cancel()
    if let update = entry.update { context.fail(update, GAPError.notConnected.error("the link has ended")) }
  }

  /// Programs want these parameters on a link; nil for none.
  func setWish(_ parameters: ConnectionParameters?, on handle: ConnectionHandle) { entries[handle]?.wish = parameters }

  /// The policy for a device that requests other parameters on a link.
  func policy(on handle: ConnectionHandle) -> ParameterPolicy {
    ParameterPolicy(longestInterval: longestInterval, wish: entries[handle]?.wish)
  }

  /// A packet was received on channel 5.
  func receive(_ packet: [UInt8], on handle: ConnectionHandle) {
    let policy = policy(on: handle)
    run(handle) { (machine, now) in
      machine.policy = policy
      return machine.receive(packet, at: now) {
        self.links.channels?.offer($0, $1, on: handle) ?? .refused(ChannelResult.noListener)
      }
    }
  }

  /// Asks the device's host for parameters that the controllers cannot negotiate.
  /// - Returns: false during an earlier request.
  func askHost(
    _ wanted: ConnectionParameters, _ link: any ControllerLink, _ done: @escaping (BluetoothError?) -> Void
  ) -> Bool {
    guard links.link(link.handle) === link, let entry = entries[link.handle], entry.update == nil else { return false }
    entries[link.handle]?.update = done
    run(link.handle) { (machine, now) in machine.request(wanted, at: now) }
    return true
  }

  /// Gives an input to the signalling of a link.
  func run(
    _ handle: ConnectionHandle, _ step: (inout SignallingMachine, Instant) -> [SignallingMachine.Action]
  ) {
    guard var entry = entries[handle] else { return }
    let actions = step(&entry.machine, context.scheduler.now)
    context.arm(&entry.alarm, at: entry.machine.deadline) { [weak self] _ in
      self?.run(handle) { (machine, now) in machine.tick(at: now) }
    }
    entries[handle] = entry
    for action in actions {
      switch action {
      case .send(let packet):
        let frame = L2CAPFrame(channel: L2CAPFrame.Fixed.signalling, payload: packet.octets)
        // Pieces of the earlier size may not follow the response to other sizes.
        let isBehind = packet.code == SignallingPacket.Code.reconfigureResponse
        // A device that sends requests without reading responses gets none.
        _ = links.sender.send(frame, on: handle, isBehind ? .last : .control)
      case .update(let parameters):
        if let link = links.link(handle) { links.requester.request(parameters, on: link) { _ in } }
      case .settled(let outcome): settled(outcome, handle)
      case .opened, .refused, .accepted, .resized, .credited, .closed:
        links.channels?.perform(action, handle)
      }
    }
  }

  private func settled(_ outcome: SignallingMachine.Outcome, _ handle: ConnectionHandle) {
    guard let entry = entries[handle], let done = entry.update else { return }
    entries[handle]?.update = nil
    context.scheduler.execute { done(outcome.error(of: entry.peer)) }
  }
}
