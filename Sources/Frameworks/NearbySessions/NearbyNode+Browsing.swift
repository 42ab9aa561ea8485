import BledClient

/// The nearby peers.
extension NearbyNode {
  /// The silence after which a peer is lost, in seconds.
  private static let silence = 10.0

  /// Searches for peers, until the stream is released. A peer is reported once its description was read, over a short
  /// connection; a connected peer's was read before.
  /// - Throws: as `BledClient.scan`.
  public func browse() async throws(BluetoothError) -> AsyncThrowingStream<NearbyChange, any Error> {
    let uuid = settings.type.uuid
    let scan = newScan()
    let losses = client.notifications(ScanLost.self, buffering: .newest(1024)) { $0.scan == scan }
    let reports = try await client.scan(
      .init(adapter: settings.adapter, services: [uuid], lost: Self.silence, scan: scan))
    let (changes, output) = AsyncThrowingStream.makeStream(
      of: NearbyChange.self, bufferingPolicy: .bufferingNewest(1024))
    let browser = PeerBrowser(own: settings.identifier, output) { [links] in
      await links.look(at: $0, $1, isRetry: $2)
    }
    let listening = Task {
      do {
        for try await report in reports {
          guard let data = report.serviceData?["\(uuid)"], let mark = PeerDescription.Mark(serviceData: data.octets)
          else { continue }
          await browser.discovered(mark, report.peripheral)
        }
        output.finish()
      } catch {
        output.finish(throwing: error)
      }
    }
    let losing = Task {
      for try await lost in losses { await browser.lost(lost.peripheral) }
    }
    output.onTermination = { _ in
      listening.cancel()
      losing.cancel()
      Task { await browser.end() }
    }
    return changes
  }

  /// The number of another scan: of two scans with one number the later one would end the earlier one.
  func newScan() -> Int {
    lastScan = lastScan % 65535 + 1
    return lastScan
  }

  /// Waits until a peer is discovered, even if it does not accept invitations from all, or the task is cancelled.
  /// - Returns: the peer, without name and information.
  /// - Throws: as `BledClient.scan`; `GAPError.timeout` if the task was cancelled.
  public func find(_ identifier: UInt64) async throws(BluetoothError) -> FoundPeer {
    let uuid = settings.type.uuid
    let reports = try await client.scan(.init(adapter: settings.adapter, services: [uuid], scan: newScan()))
    do {
      for try await report in reports {
        guard let data = report.serviceData?["\(uuid)"],
          PeerDescription.Mark(serviceData: data.octets)?.identifier == identifier
        else { continue }
        return FoundPeer(identifier: identifier, name: "", information: [:], peripheral: report.peripheral)
      }
    } catch let error as BluetoothError {
      throw error
    } catch {}
    throw GAPError.timeout.error("the peer was not heard")
  }
}
