// Apple's Foundation includes URLSession and the like; on Linux they are in a separate module.
@_exported import Dispatch
@_exported import Foundation
@_exported import FoundationNetworking
