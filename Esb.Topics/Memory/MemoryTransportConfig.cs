using Esb.Core.Topics;

namespace Esb.Topics.Memory;

/// <summary>Settings of the embedded transport, which has none.</summary>
internal sealed record MemoryTransportConfig : TransportConfig;
