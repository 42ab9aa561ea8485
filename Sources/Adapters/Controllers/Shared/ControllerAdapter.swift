import Adapter
import Bluetooth
import HCI
import Radio

/// The user of a controller, which receives its events.
protocol ControllerOwner: AnyObject {
  /// The controller does not work.
  func radioFailed(_ reason: String)
  /// A radio machine requests or reports this; neither a command nor an answer.
  func perform(_ action: RadioAction)
  func heard(_ report: AdvertisingReport)
  /// The controller is to be closed and opened again.
  /// - Parameter words: the reason, behind the adapter's name.
  func fail(_ words: String, remedy: String)
  /// The controller is to be closed and opened again, though nothing has failed.
  /// - Parameter words: the reason, behind the adapter's name.
  func reopen(_ words: String)
}

/// An adapter over HCI: the members common to all of them. An adapter adds the transport to its controller, its links,
/// their security and its addresses.
protocol ControllerAdapter: Adapter, ControllerOwner, AddressPausesOwner {
  var information: AdapterInformation { get set }
  var state: AdapterState { get set }
  var context: AdapterContext { get }
  var events: EventQueue { get }
  var activities: RadioActivities { get }
  var requester: LinkRequester { get }
  var pauses: AddressPauses { get }
  var end: AdapterEnd { get }
  /// The announced links.
  var openLinks: [any Link] { get }

  /// Handles the radio's actions about links and their keys.
  func perform(onLinks action: RadioAction)
  /// Extended commands do not work: the controller is opened again without them.
  func avoid(_ quirk: Quirk)
  /// The controller may have forgotten its settings, and has the set-up's again.
  func renewed()
  /// Closes the controller, which does not work.
  func close(for problem: AdapterProblem)
  /// The radio is quiet, or the time for that is over: only the closing of the controller remains.
  func finishStop()
}

// MARK: - Adapter

extension ControllerAdapter {
  /// Called on the event loop, after the call in which the event arose.
  package var onEvent: ((AdapterEvent) -> Void)? {
    get { events.onEvent }
    set { events.onEvent = newValue }
  }

  package var silence: ControllerSilence { activities.silence }

  package func setQuirks(_ keeper: any QuirkKeeper) { context.keeper = keeper }

  /// Ends scan, advertising and links within two seconds, and calls back. It takes longer if the kernel has to restore
  /// the power, or if the controller was just switched off.
  package func stop(_ done: @escaping () -> Void) {
    guard end.stops(done) else { return }
    closeAddresses()
    let isReady = activities.isReady
    // A radio without activities is quiet at once.
    if isReady { end.waitsToStop { [weak self] in self?.finishStop() } }
    activities.wantNothing()
    guard isReady else { return finishStop() }
    for link in openLinks { link.disconnect() }
  }

  package func setScan(_ parameters: ScanParameters?) { activities.want(scan: parameters) }

  package func setAdvertising(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?) {
    activities.want(set, parameters)
  }

  package func setSubevent(
    _ data: SubeventData, of set: AdvertisingSetID, _ done: @escaping (BluetoothError?) -> Void
  ) { activities.setSubevent(data, of: set, done) }

  package func setSync(_ train: PeriodicTrain, _ parameters: SyncParameters?) { activities.want(train, parameters) }

  package func setSubevents(
    _ subevents: [UInt8], of train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void
  ) { activities.setSubevents(subevents, of: train, done) }

  package func respond(
    _ response: TrainResponse, to train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void
  ) { activities.respond(response, to: train, done) }

  package func connect(to address: DeviceAddress, _ parameters: ConnectionParameters) {
    activities.connect(to: address, parameters)
  }

  /// Cancels the pending connection; a link established in the meantime is dropped unannounced.
  package func cancelConnect(to address: DeviceAddress) {
    activities.cancelConnect(to: address)
    events.withdrawConnection(to: address)
  }
}

// MARK: - The controller

extension ControllerAdapter {
  func heard(_ report: AdvertisingReport) { events.emitAtOnce(.report(report)) }

  func perform(_ action: RadioAction) {
    guard !pauses.withholds(action) else { return }
    if let event = action.event { return events.emit(event) }
    switch action {
    case .trainReceived(let handle, let train): requester.trains.received(train, over: handle)
    case .trainNotReceived(let handle, let status): requester.trains.missed(status, over: handle)
    case .sharing(let activities, let heldBack): share(activities, heldBack)
    case .faulty(let quirk):
      note(quirk)
      avoid(quirk)
    case .quirk(let quirk, let holds): note(quirk, holds)
    case .renewed: renewed()
    case .attach, .linkUp, .link, .linkDown, .encryptionChanged, .keysMissing: perform(onLinks: action)
    case .quiet: if !end.becameQuiet(hasLinks: !openLinks.isEmpty) { pauses.becameQuiet() }
    // Continues under another address.
    case .resumed: events.emit(.stateChanged)
    case .send, .answered, .broken, .log: break
    // Handled above.
    case .scanning, .watching, .presence, .advertising, .periodic, .responses, .attemptFailed, .connectWaiting: break
    }
  }

  /// The controller cannot run all wanted activities at once.
  private func share(_ activities: Set<LEStates.Activity>, _ heldBack: Set<LEStates.Activity>) {
    (information.takingTurns, information.heldBack) = (activities.words, heldBack.words)
    context.logShortage(information)
    events.emit(.stateChanged)
  }

  /// Records that the controller showed a quirk, or lacks it.
  func note(_ quirk: Quirk, _ holds: Bool = true) { if context.note(quirk, holds) { showQuirks() } }

  private func showQuirks() {
    information.quirks = context.faults
    events.emit(.stateChanged)
  }

  /// A controller was set up: its make is known.
  func identify(_ profile: ControllerProfile) {
    context.model = profile.model
    information.adopt(profile)
    information.quirks = context.faults
  }

  func become(_ new: AdapterState) {
    guard new != state else { return }
    state = new
    events.emit(.stateChanged)
  }

  /// The private addresses end.
  func closeAddresses() {
    pauses.source?.close()
    information.privateAddress = nil
  }

  /// The controller is closed: it shares nothing, and is not seen.
  func forgetActivities() {
    closeAddresses()
    (information.takingTurns, information.heldBack) = ([], [])
  }

  /// Closes the controller for a problem of the hardware.
  /// - Parameter words: the problem, behind the adapter's name.
  func fail(_ words: String, remedy: String) {
    close(for: AdapterProblem(kind: .hardware, message: "\(context.name) \(words)", remedy: remedy))
  }

  /// Only trials reopen the adapter, and there are none with a kernel.
  func reopen(_ words: String) { fail(words, remedy: "wait: the adapter is opened anew") }

  /// A link has ended: the last one ends the wait for quiet.
  func quietWithoutLinks() { if end.isStopping, openLinks.isEmpty { activities.run(.quiet) } }

  func resume(under address: DeviceAddress, isScanOver: Bool, over: Set<AdvertisingSetID>) {
    if information.privateAddress != nil { information.privateAddress = address }
    if isScanOver { events.emit(.scanning(false)) }
    for set in over { events.emit(.advertising(set, .off)) }
  }
}
