using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Delivery.Failures;

namespace Esb.Delivery.Outbound;

/// <summary>Stands in for an endpoint that its type, for example a plug-in, failed to create: its messages wait, and other endpoints
/// run.</summary>
internal sealed class UnmadeAdapter(string endpoint, Exception cause) : IOutboundAdapter, IOutboundEndpoint
{
    public IOutboundEndpoint CreateInstance() => this;

    public ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken) =>
        throw new EndpointException(
            endpoint,
            FailureText.Unforeseen,
            $"The endpoint '{endpoint}' could not be made: {cause.GetType().Name}.",
            isTransient: true,
            cause,
            FaultKind.Internal
        )
        {
            IsOutage = true,
        };

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
