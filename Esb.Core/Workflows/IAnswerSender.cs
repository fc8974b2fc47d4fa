using Esb.Core.Messages;

namespace Esb.Core.Workflows;

/// <summary>Sends an answer to a caller who may wait at another host. Thread-safe.</summary>
public interface IAnswerSender
{
    /// <summary>Sends the answer.</summary>
    /// <param name="address">Where it goes, as the delivery of the request said.</param>
    /// <param name="request">The request.</param>
    /// <param name="answer">The answer, with the properties of the process.</param>
    /// <param name="cancellationToken">Cancels waiting.</param>
    /// <returns>False if nobody waits for it any more.</returns>
    ValueTask<bool> SendAsync(string address, EsbMessage request, EsbMessage answer, CancellationToken cancellationToken);
}
