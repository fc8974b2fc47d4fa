using Esb.Core.Endpoints;
using Esb.Core.Messages;

namespace Esb.KnownBad;

/// <summary>A broken way to send a message, over instances that it makes where it wants some.</summary>
internal delegate ValueTask<EsbMessage?> BrokenSend(IOutboundAdapter adapter, EsbMessage message, CancellationToken cancellationToken);
