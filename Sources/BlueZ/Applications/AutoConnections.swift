import Adapter
import BledRPC
import Bluetooth

/// The connections for the profiles of programs (BlueZ, org.bluez.GattProfile): a device that was connected before, and
/// has the service of a profile, is connected as soon as it is in range, in the session of the profile's program.
///
/// | State of a device and a program | Input                                 | Effect                           |
/// |---------------------------------|---------------------------------------|----------------------------------|
/// | idle                            | wanted, and not connected             | bled connects → waiting          |
/// | waiting                         | the program has the link, or another  | → idle, when bled answers        |
/// | waiting                         | bled refuses                          | a pause → paused                 |
/// | paused                          | the pause is over                     | → idle                           |
/// | waiting                         | no longer wanted                      | bled stops → idle                |
///
/// After Disconnect a device that is not trusted is not wanted for the programs of that user, until it is connected
/// again.
final class AutoConnections: LinkObserver, DeviceObserver {
  private struct Key: Hashable {
    let path: String
    /// The unique name of the program.
    let program: String
  }

  private enum State {
    case waiting(BusClient)
    case paused(any ScheduledWork)
  }

  /// The pause after bled has refused to connect.
  private static let pause = Duration.seconds(10)

  private let context: Context
  private let devices: Devices
  private let links: Links
  private let applications: Applications
  private var states: [Key: State] = [:]
  /// The devices that were disconnected on request.
  private var suspended: Set<Key> = []

  init(_ context: Context, _ devices: Devices, _ links: Links, _ applications: Applications) {
    self.context = context
    self.devices = devices
    self.links = links
    self.applications = applications
    applications.profilesChanged = { [unowned self] in update() }
  }

  /// Makes the connections that are wanted and not there, and gives up the others.
  func update() {
    let profiles = applications.profiles
    guard !profiles.isEmpty || !states.isEmpty else { return }
    let wanted = self.wanted(profiles)
    for (key, state) in states where wanted[key] == nil {
      states[key] = nil
      switch state {
      case .waiting(let client): links.giveUp(key.path, client)
      case .paused(let work): work.cancel()
      }
    }
    for (key, client) in wanted where states[key] == nil && !links.isConnected(key.path) { connect(key, client) }
  }

  private func wanted(_ profiles: [Applications.Profile]) -> [Key: BusClient] {
    var wanted: [Key: BusClient] = [:]
    guard !profiles.isEmpty else { return wanted }
    for device in devices.all where devices.isKept(device) {
      let services = Set(device.services.uuids + device.found)
      for profile in profiles where device.path.utf8.starts(with: (profile.place + "/").utf8) {
        let key = Key(path: device.path, program: profile.client.name)
        if !profile.services.isDisjoint(with: services), !suspended.contains(key) { wanted[key] = profile.client }
      }
    }
    return wanted
  }

  private func connect(_ key: Key, _ client: BusClient) {
    guard let device = devices[key.path] else { return }
    states[key] = .waiting(client)
    links.connectInRange(device, client) { [weak self] result in
      guard let self, case .waiting? = states[key] else { return }
      states[key] = nil
      guard case .failure = result else { return }
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

  /// Root speaks for all.
  func disconnecting(_ path: String, by client: BusClient) {
    guard !devices.flag(path, "Trusted") else { return }
    let user = client.credentials.user
    for profile in applications.profiles where user == 0 || profile.client.credentials.user == user {
      suspended.insert(Key(path: path, program: profile.client.name))
    }
    update()
  }

  /// A device was heard, perhaps with a service that it had not advertised before.
  func heard(_ device: Device) {
    guard devices.isKept(device), !states.keys.contains(where: { $0.path == device.path }) else { return }
    update()
  }

  func leaving(_ device: Device) {
    suspended = suspended.filter { $0.path != device.path }
    for (key, state) in states where key.path == device.path {
      states[key] = nil
      if case .paused(let work) = state { work.cancel() }
    }
  }

  /// A program has left the bus.
  func left(_ client: BusClient) {
    suspended = suspended.filter { $0.program != client.name }
    for (key, state) in states where key.program == client.name {
      states[key] = nil
      if case .paused(let work) = state { work.cancel() }
    }
  }
}
