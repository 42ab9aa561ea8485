import BledRPC
import Bluetooth

/// The connections for the profiles of programs (BlueZ, org.bluez.GattProfile): a device that was connected before and
/// has a profile's service is connected as soon as it is in range, in the session of the profile's program.
///
/// | State of a device and a program | Input                                 | Effect                           |
/// |---------------------------------|---------------------------------------|----------------------------------|
/// | idle                            | wanted, and not connected             | bled connects → waiting          |
/// | waiting                         | the program has the link, or another  | → idle, when bled answers        |
/// | waiting                         | bled refuses                          | a pause → paused                 |
/// | waiting                         | the program lacks the permission      | → refused                        |
/// | paused                          | the pause is over                     | → idle                           |
/// | refused                         | the profiles change                   | → idle                           |
/// | waiting                         | no longer wanted                      | bled stops → idle                |
///
/// After Disconnect an untrusted device is not wanted for the programs of that user until it is connected again. A
/// device about to be removed is not wanted for them until the removal fails; a blocked device is not wanted at all.
final class AutoConnections: LinkObserver, DeviceObserver {
  private struct Key: Hashable {
    let path: String
    /// The unique name of the program.
    let program: String
  }

  private enum State {
    /// With the number of the attempt.
    case waiting(BusClient, Int)
    case paused(any ScheduledWork)
    case refused
  }

  /// The pause after bled has refused to connect.
  private static let pause = Duration.seconds(10)

  private let context: Context
  private let devices: Devices
  private let links: Links
  private let applications: Applications
  private var states: [Key: State] = [:]
  private var lastAttempt = 0
  /// The devices that were disconnected on request.
  private var suspended: Set<Key> = []
  /// The devices that are about to be removed.
  private var removals: Set<Key> = []

  init(_ context: Context, _ devices: Devices, _ links: Links, _ applications: Applications) {
    self.context = context
    self.devices = devices
    self.links = links
    self.applications = applications
    applications.profilesChanged = { [unowned self] in
      states = states.filter { if case .refused = $0.value { false } else { true } }
      update()
    }
  }

  /// Makes the missing connections that are wanted, and gives up the others.
  func update() {
    let profiles = applications.profiles
    guard !profiles.isEmpty || !states.isEmpty else { return }
    let wanted = self.wanted(profiles)
    for (key, state) in states where wanted[key] == nil {
      states[key] = nil
      stop(state, key.path)
    }
    for (key, client) in wanted where states[key] == nil && !links.isConnected(key.path) { connect(key, client) }
  }

  private func stop(_ state: State, _ path: String) {
    switch state {
    case .waiting(let client, _): links.giveUp(path, client)
    case .paused(let work): work.cancel()
    case .refused: break
    }
  }

  private func wanted(_ profiles: [Applications.Profile]) -> [Key: BusClient] {
    var wanted: [Key: BusClient] = [:]
    guard !profiles.isEmpty else { return wanted }
    for device in devices.all { wanted.merge(self.wanted(device, profiles)) { $1 } }
    return wanted
  }

  private func wanted(_ device: Device, _ profiles: [Applications.Profile]) -> [Key: BusClient] {
    var wanted: [Key: BusClient] = [:]
    guard devices.isKept(device), !devices.flag(device.path, "Blocked") else { return wanted }
    let services = Set(device.services.uuids + device.found)
    for profile in profiles where device.path.utf8.starts(with: (profile.place + "/").utf8) {
      let key = Key(path: device.path, program: profile.client.name)
      guard !suspended.contains(key), !removals.contains(key) else { continue }
      if !profile.services.isDisjoint(with: services) { wanted[key] = profile.client }
    }
    return wanted
  }

  private func connect(_ key: Key, _ client: BusClient) {
    guard let device = devices[key.path] else { return }
    lastAttempt += 1
    let attempt = lastAttempt
    states[key] = .waiting(client, attempt)
    links.connectInRange(device, client) { [weak self] result in
      // An attempt that was given up is answered, too.
      guard let self, case .waiting(_, let current)? = states[key], current == attempt else { return }
      states[key] = nil
      guard case .failure(let error) = result else { return }
      if error == .notAuthorized { return states[key] = .refused }
      states[key] = .paused(
        context.schedule(after: Self.pause) { [weak self] in
          self?.states[key] = nil
          self?.update()
        })
    }
  }

  /// The device may be connected by itself again.
  func connected(_ path: String) {
    suspended = suspended.filter { $0.path != path }
    update()
  }

  func resolved(_ path: String, by user: any SessionHolder) { update() }

  func ended(_ path: String) { update() }

  func disconnecting(_ path: String, by client: BusClient) {
    guard !devices.flag(path, "Trusted") else { return }
    suspended.formUnion(keys(path, client))
    update()
  }

  func removing(_ path: String, by client: BusClient) {
    removals.formUnion(keys(path, client))
    update()
  }

  func isNotRemoved(_ path: String, by client: BusClient) {
    removals.subtract(keys(path, client))
    update()
  }

  /// The profiles that a program speaks for: root speaks for all.
  private func keys(_ path: String, _ client: BusClient) -> [Key] {
    let user = client.credentials.user
    return applications.profiles.filter { user == 0 || $0.client.credentials.user == user }
      .map { Key(path: path, program: $0.client.name) }
  }

  /// A device was received, perhaps with a newly advertised service.
  func discovered(_ device: Device) {
    let profiles = applications.profiles.filter {
      states[Key(path: device.path, program: $0.client.name)] == nil
    }
    guard !profiles.isEmpty, !links.isConnected(device.path) else { return }
    for (key, client) in wanted(device, profiles) { connect(key, client) }
  }

  func leaving(_ device: Device) {
    suspended = suspended.filter { $0.path != device.path }
    removals = removals.filter { $0.path != device.path }
    for (key, state) in states where key.path == device.path {
      states[key] = nil
      stop(state, key.path)
    }
  }

  /// A program has left the bus.
  func left(_ client: BusClient) {
    suspended = suspended.filter { $0.program != client.name }
    removals = removals.filter { $0.program != client.name }
    for (key, state) in states where key.program == client.name {
      states[key] = nil
      if case .paused(let work) = state { work.cancel() }
    }
  }
}
