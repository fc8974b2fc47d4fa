using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Sending;

namespace Esb.Endpoints.Soap.Sending;

/// <summary>Sends each message as the child of Body; the child of the answer's Body becomes a message.</summary>
internal sealed class SoapOutboundEndpoint(
    SoapOutboundConfig config,
    HttpTarget target,
    SoapRequestWriter requests,
    SoapAnswers answers,
    long maxBodyBytes
) : IOutboundEndpoint
{
    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        using var request = await requests.WriteAsync(message, target.Servers.First.Url, cancellationToken);
        try
        {
            using var response = await target.Client.SendAsync(request, cancellationToken);
            return answers.Read(
                message,
                response,
                await HttpAnswerBody.ReadAsync(config.Name, request.Method, response, maxBodyBytes, cancellationToken)
            );
        }
        catch (Exception ex) when (HttpFailures.Of(config.Name, request.RequestUri!, ex, cancellationToken) is { } failure)
        {
            throw failure;
        }
    }
}
