import FoundationEssentials

extension ReadCommand {
  /// Reads characteristics of one device or several, once or again and again.
  /// - Parameter areOfCurrent: True if all words are characteristics of the current device.
  @MainActor func readSeveral(in shell: Shell, _ output: Output, areOfCurrent: Bool) async throws {
    guard !words.isEmpty else { throw Failure("read needs a device and characteristics", status: 64) }
    let groups = areOfCurrent ? [] : try DeviceWords.groups(words, of: .read)
    if csv { output.line(Output.csvValueHeading) }
    guard !groups.isEmpty else {
      return try await shell.use(
        nil, within: connection.deadline, over: connection.adapter, onlyConnecting: every != nil
      ) { try await read([words], of: [$0], output) }
    }
    try await shell.use(
      each: groups.map(\.device), within: connection.deadline, over: connection.adapter, onlyConnecting: every != nil
    ) { try await read(groups.map(\.characteristics), of: $0, output) }
  }

  /// - Parameter texts: The characteristics of each device.
  @MainActor private func read(_ texts: [[String]], of devices: [Device], _ output: Output) async throws {
    var all: [(place: ValueColumns.Place, device: Device, attribute: Attribute)] = []
    for (number, device) in devices.enumerated() {
      for (index, text) in texts[number].enumerated() {
        var attribute = try await device.attribute(text)
        attribute.format = format.format ?? attribute.format
        all.append((.init(device: number, attribute: index), device, attribute))
      }
    }
    let table = ValueColumns(
      devices.enumerated().map { number, device in
        .init(
          name: device.name, address: device.peripheral.link.address,
          attributes: all.filter { $0.place.device == number }.map(\.attribute))
      })
    if columns { output.line(table.heading) }
    var left = every == nil ? 1 : count
    var next = ContinuousClock.now
    while true {
      let begin = Date()
      var values: [ValueColumns.Place: [UInt8]] = [:]
      for (place, device, attribute) in all {
        let octets = try await device.read(attribute.handle)
        values[place] = octets
        if columns { continue }
        try show(
          octets, of: attribute, device, output, at: every == nil ? nil : Date(), namesDevice: devices.count > 1)
      }
      if columns { output.line(table.row(values, at: begin.timeIntervalSince1970)) }
      left = left.map { $0 - 1 }
      guard left != 0, let every else { return }
      // Rounds that took longer than the time between two are left out.
      repeat { next += .seconds(every) } while next <= .now
      try await Task.sleep(until: next)
    }
  }
}
