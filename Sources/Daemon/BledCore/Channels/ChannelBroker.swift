import Adapter
import BledRPC
import Bluetooth
import Logging

/// The L2CAP channels of all sessions, and their listening PSMs.
///
/// | State of a channel | Input                              | Effect                                         |
/// |--------------------|------------------------------------|------------------------------------------------|
/// | (none)             | a device opened it                 | reported to the session → offered              |
/// | (none)             | opened for a session, with a token | answered with a token → waiting                |
/// | (none)             | opened for a session               | answered with a descriptor, octets pass → open |
/// | offered            | l2cap.accept                       | the same                                       |
/// | waiting            | the program sends the token        | octets pass → open                             |
/// | offered, waiting   | 30 s passed                        | closed, reported to the session → (none)       |
/// | waiting, open      | the device or the program ends it  | closed, reported to the session → (none)       |
/// | any                | l2cap.close, the session ended     | closed → (none)                                |
final class ChannelBroker: LinkChannels {
  private struct Listener {
    let session: Session
    let slot: AdapterSlot
    let psm: UInt16
    let parameters: ChannelParameters

    /// True if it accepts channels of this mode; the kernel's listeners accept both.
    func accepts(_ mode: ChannelMode) -> Bool { parameters.mode.map { $0 == mode } ?? true }
  }

  /// Maximum channels from a device not yet accepted by a program: they must not use up the program's share.
  private static let maximumOffered = 4
  /// ATT's own, on BR/EDR and with enhanced bearers: there the daemon keeps sessions apart.
  private static let reserved: Set<Int> = [0x1F, 0x27]

  private final class Entry {
    let number: Int
    let session: Session
    let peripheral: Peripheral
    let channel: any Channel
    let relay: ChannelRelay
    /// True if the device opened it.
    let isIncoming: Bool
    /// True until the program accepts it.
    var isOffered: Bool
    /// Rings when the program did not fetch it in time; nil once it has.
    var alarm: (any ScheduledWork)?

    init(
      _ number: Int, _ session: Session, _ peripheral: Peripheral, _ channel: any Channel, _ relay: ChannelRelay,
      isOffered: Bool
    ) {
      self.number = number
      self.session = session
      self.peripheral = peripheral
      self.channel = channel
      self.relay = relay
      isIncoming = isOffered
      self.isOffered = isOffered
    }
  }

  /// The path of the socket at which programs fetch channels; nil without one.
  var socketPath: String?
  /// Makes a socket pair: our end of it, and the program's.
  var makePair: (_ keepsPackets: Bool) throws(BluetoothError) -> ChannelPair = { _ throws(BluetoothError) in
    throw GAPError.notSupported.error("there are no socket pairs here")
  }
  private let adapters: AdapterRegistry
  private let pairing: PairingBroker
  private let scheduler: any Scheduler
  private let logger: Logger
  private var listeners: [Listener] = []
  private var entries: [Int: Entry] = [:]
  private var openings: [ChannelOpening] = []
  private var tokens = ChannelTokens()
  private var lastNumber = 0

  init(adapters: AdapterRegistry, pairing: PairingBroker, scheduler: any Scheduler, logger: Logger) {
    self.adapters = adapters
    self.pairing = pairing
    self.scheduler = scheduler
    self.logger = logger
  }

  // MARK: Requests of sessions

  func publish(_ params: L2CAPPublish.Params, for session: Session) throws -> L2CAPPublish.Result {
    let parameters = try ChannelParameters(
      security: params.security, receiveMTU: params.receiveMTU, mode: params.mode)
    if let psm = params.psm, !ChannelParameters.dynamic.contains(psm) {
      throw BledError.invalidParameter.error("\"psm\" must be 128 to 255; if it is left out, bled chooses one")
    }
    try admit(session)
    let slot = try adapters.findUsable(params.adapter)
    let here = listeners.filter { $0.slot == slot }
    let own = here.count { $0.session.user == session.user }
    guard Limits.hasShare(own: own, all: here.count, of: ChannelParameters.dynamic.count) else {
      throw BledError.limitReached.error(
        "user \(session.user.map { "\($0)" } ?? "unknown") has \(own) of the numbers for channels on \(slot.id), and the "
          + "last ones are kept for other users: give some back with \(L2CAPUnpublish.name)")
    }
    let psm = try slot.adapter.publishChannel(params.psm, parameters)
    listeners.append(Listener(session: session, slot: slot, psm: psm, parameters: parameters))
    return .init(psm: psm, adapter: slot.id)
  }

  func unpublish(_ params: L2CAPUnpublish.Params, for session: Session) throws {
    let slot = try adapters.find(params.adapter)
    guard let index = listeners.firstIndex(where: { $0.session == session && $0.slot == slot && $0.psm == params.psm })
    else { throw BledError.unknownHandle.error("this session has not published \(params.psm) on \(slot.id)") }
    listeners.remove(at: index)
    slot.adapter.unpublishChannel(params.psm)
  }

  /// Opens a channel on a link used by the session.
  func open(
    _ params: L2CAPOpen.Params, on hub: LinkHub, for session: Session, _ reply: Reply<ChannelDescription>
  ) throws {
    guard 1...255 ~= params.psm, !Self.reserved.contains(Int(params.psm)) else {
      throw BledError.invalidParameter.error("\"psm\" must be 1 to 255, but not 31 or 39, which belong to ATT")
    }
    let parameters = try ChannelParameters(
      security: params.security, receiveMTU: params.receiveMTU, mode: params.mode)
    let way = try way(params.packets, params.token)
    try admit(session)
    let opening = ChannelOpening(for: session, on: hub, reply)
    openings.append(opening)
    pairing.require(parameters.level, on: hub, for: session) { [weak self] error in
      guard let self, isUnderWay(opening) else { return }
      if let error { return fail(opening, error) }
      guard hub.isOpen else { return fail(opening, LinkHub.gone) }
      hub.link.openChannel(to: params.psm, parameters) { [weak self] result in
        guard let self, isUnderWay(opening) else {
          if case .success(let channel) = result { channel.close() }
          return
        }
        switch result {
        case .failure(let error): fail(opening, error)
        case .success(let channel):
          remove(opening)
          guard session.isPresent else { return channel.close() }
          handOver(add(channel, hub.peripheral, session, isOffered: false), by: way, reply)
        }
      }
    }
  }

  /// A session disconnected from a device, while others may still use the link: its channels on it end.
  func released(_ hub: LinkHub, by session: Session) {
    for opening in openings where opening.session == session && opening.hub === hub {
      fail(opening, GAPError.cancelled.error("this session disconnected from the device"))
    }
    let own = entries.values.filter { $0.session == session && $0.peripheral === hub.peripheral && !$0.isIncoming }
    for entry in own.sorted(by: { $0.number < $1.number }) {
      entry.relay.end(GAPError.disconnected.error("this session does not use the link any more"))
    }
  }

  func accept(_ params: L2CAPAccept.Params, for session: Session, _ reply: Reply<ChannelDescription>) throws {
    let way = try way(params.packets, params.token)
    let entry = try find(params.channel, of: session)
    guard entry.isOffered else {
      throw BledError.alreadyInProgress.error("channel \(params.channel) was already accepted")
    }
    entry.isOffered = false
    handOver(entry, by: way, reply)
  }

  func close(_ params: L2CAPClose.Params, for session: Session) throws {
    end(try find(params.channel, of: session))
  }

  /// A program has sent a token.
  /// - Returns: the number of its channel, for `attach`; nil if the token is invalid.
  func channel(of token: String, for user: UInt32?) -> Int? {
    tokens.claim(token, by: user, now: scheduler.now).flatMap { entries[$0]?.number }
  }

  /// A program has fetched a channel.
  func attach(_ program: any ProgramEnd, to number: Int) {
    guard let entry = entries[number] else { return program.close() }
    entry.alarm?.cancel()
    entry.alarm = nil
    entry.relay.attach(program)
  }

  // MARK: Other events

  /// A device opened a channel.
  func opened(_ channel: any Channel, on hub: LinkHub) {
    let listener = listeners.first { $0.slot == hub.slot && $0.psm == channel.psm }
    guard let listener, listener.session.isPresent, listener.accepts(channel.mode) else { return channel.close() }
    let offered = entries.values.count { $0.isOffered && $0.peripheral === hub.peripheral }
    // The kernel may have let the device pair without asking.
    guard Int(pairing.security(of: hub).level) >= listener.parameters.level, offered < Self.maximumOffered else {
      logger.notice(
        "a channel of \(hub.peripheral.address) was refused: its link is not secure, or it has too many",
        metadata: .about(hub.peripheral, session: listener.session, adapter: hub.slot))
      return channel.close()
    }
    do { try admit(listener.session) } catch {
      logger.notice(
        "a channel of \(hub.peripheral.address) was refused: \(error)",
        metadata: .about(hub.peripheral, session: listener.session, adapter: hub.slot))
      return channel.close()
    }
    let entry = add(channel, hub.peripheral, listener.session, isOffered: true)
    listener.session.send(L2CAPIncoming.self, describe(entry))
  }

  /// A session has ended: its listeners and its channels end.
  func ended(_ session: Session) {
    for entry in entries.values.filter({ $0.session == session }).sorted(by: { $0.number < $1.number }) { end(entry) }
    for listener in listeners where listener.session == session { listener.slot.adapter.unpublishChannel(listener.psm) }
    listeners.removeAll { $0.session == session }
    openings.removeAll { $0.session == session }
  }

  /// Adds a session's holdings, for `session.list`.
  func describe(_ session: Session, in description: inout SessionDescription) {
    let own = entries.values.filter { $0.session == session }.sorted { $0.number < $1.number }
    description.channels = own.map { .init(describe($0), hasRoom: $0.channel.isWritable) }.nonEmpty
    description.listening =
      listeners.filter { $0.session == session }.map { .init(psm: $0.psm, adapter: $0.slot.id) }.nonEmpty
  }

  // MARK: Inside

  private func admit(_ session: Session) throws(BluetoothError) {
    func count(_ isCounted: (Session) -> Bool) -> Int {
      entries.values.count { isCounted($0.session) } + listeners.count { isCounted($0.session) }
        + openings.count { isCounted($0.session) }
    }
    let ofUser = count { $0.user == session.user }
    try session.rules.admit(.channels, of: session, own: count { $0 == session }, all: ofUser)
    try session.rules.admit(.channels, total: count { _ in true }, own: ofUser)
    try DescriptorReserve.admit(session)
  }

  private func add(_ channel: any Channel, _ peripheral: Peripheral, _ session: Session, isOffered: Bool) -> Entry {
    lastNumber += 1
    let number = lastNumber
    let relay = ChannelRelay(channel) { [weak self] reason in self?.relayEnded(number, reason) }
    let entry = Entry(number, session, peripheral, channel, relay, isOffered: isOffered)
    entries[number] = entry
    peripheral.references += 1
    startWaiting(entry)
    return entry
  }

  /// How a program gets a channel's octets.
  private enum Way {
    case descriptor(keepsPackets: Bool)
    case token(socket: String)
  }

  private func way(_ packets: Bool?, _ token: Bool?) throws(BluetoothError) -> Way {
    guard token == true else { return .descriptor(keepsPackets: packets ?? false) }
    guard packets != true else {
      throw BledError.invalidParameter.error("\"packets\" are kept by a descriptor only: leave out \"token\"")
    }
    guard let socketPath else {
      throw GAPError.notSupported.error("bled has no socket for tokens; its log says why")
    }
    return .token(socket: socketPath)
  }

  private func handOver(_ entry: Entry, by way: Way, _ reply: Reply<ChannelDescription>) {
    var description = describe(entry)
    switch way {
    case .token(let socket):
      startWaiting(entry)
      description.token = tokens.issue(entry.number, to: entry.session.user, now: scheduler.now)
      description.socket = socket
      reply.succeed(description)
    case .descriptor(let keepsPackets):
      do throws(BluetoothError) {
        try entry.session.admitDescriptor()
        let pair = try makePair(keepsPackets)
        reply.succeed(description, with: pair.passed)
        attach(pair.own, to: entry.number)
      } catch {
        end(entry)
        reply.fail(error)
      }
    }
  }

  private func startWaiting(_ entry: Entry) {
    entry.alarm?.cancel()
    entry.alarm = scheduler.schedule(after: ChannelTokens.timeout) { [weak self, weak entry] in
      guard let self, let entry else { return }
      let error = GAPError.timeout.error("the channel was not fetched within 30 seconds")
      reportEnd(entry, error)
      end(entry)
    }
  }

  private func describe(_ entry: Entry) -> ChannelDescription {
    ChannelDescription(
      channel: entry.number, peripheral: entry.peripheral.id, psm: entry.channel.psm,
      mode: Word(entry.channel.mode), receiveMTU: entry.channel.receiveMTU, sendMTU: entry.channel.sendMTU,
      receiveMPS: entry.channel.pieces?.receive, sendMPS: entry.channel.pieces?.send)
  }

  private func find(_ number: Int, of session: Session) throws -> Entry {
    guard let entry = entries[number], entry.session == session else {
      throw BledError.unknownHandle.error("this session has no channel \(number)")
    }
    return entry
  }

  private func relayEnded(_ number: Int, _ reason: BluetoothError?) {
    guard let entry = entries[number] else { return }
    reportEnd(entry, reason)
    end(entry)
  }

  private func reportEnd(_ entry: Entry, _ reason: BluetoothError?) {
    entry.session.send(L2CAPClosed.self, .init(channel: entry.number, reason: reason.map { RPCError($0) }))
  }

  private func end(_ entry: Entry) {
    guard entries.removeValue(forKey: entry.number) != nil else { return }
    entry.alarm?.cancel()
    tokens.revoke(entry.number)
    entry.relay.close()
    entry.peripheral.references -= 1
  }

  private func isUnderWay(_ opening: ChannelOpening) -> Bool { openings.contains { $0 === opening } }

  private func remove(_ opening: ChannelOpening) { openings.removeAll { $0 === opening } }

  private func fail(_ opening: ChannelOpening, _ error: BluetoothError) {
    remove(opening)
    opening.reply.fail(error)
  }
}
