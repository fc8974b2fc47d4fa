using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics;

internal static class TransportRequests
{
    /// <summary>Publishes a request and waits for its reply.</summary>
    public static async Task<EsbMessage> RequestAsync(
        this ITopicTransport transport,
        EsbMessage request,
        TimeSpan timeout,
        CancellationToken cancellationToken
    ) => await await transport.SendRequestAsync(request, timeout, cancellationToken);
}
