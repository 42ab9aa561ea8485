// Apple's Foundation has URLSession and the like; on Linux they are a module of their own.
@_exported import Dispatch
@_exported import Foundation
@_exported import FoundationNetworking
