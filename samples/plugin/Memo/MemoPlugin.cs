using Esb.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Memo;

/// <summary>What this assembly brings: one line each.</summary>
public sealed class MemoPlugin : IEsbPlugin
{
    public void Register(IServiceCollection services) =>
        services
            .AddEndpointType<MemoOutboundType, MemoOutboundConfig>("memo-outbound", "Appends each message to a file, as a line of JSON.")
            .AddStep<HashStep, HashConfig>("hash", "Sets a property to the digest of the body.");
}
