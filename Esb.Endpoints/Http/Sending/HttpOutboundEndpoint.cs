using System.Globalization;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Idempotency;
using Esb.Endpoints.Http.Sending.Direct;
using Esb.Endpoints.Http.Targets;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Sending;

/// <summary>Sends each message as its own request; the answer becomes a message, whatever its status.</summary>
/// <remarks>Requests to the endpoint's own servers go over the relays' client; those to targets, those with headers that frame a
/// request, and bodies that are not in memory, over the platform's. Under a lease each request carries its fencing token. An external
/// system that remembers the largest token and refuses smaller ones is safe from a host that was replaced unknowingly.</remarks>
internal sealed class HttpOutboundEndpoint(
    HttpOutboundConfig config,
    HttpTarget target,
    HttpDestinations destinations,
    RequestAddress address,
    long maxBodyBytes,
    TimeProvider time
) : IFencedEndpoint
{
    /// <summary>The header with the fencing token, a number that grows with each fail-over.</summary>
    public const string FencingHeader = "Esb-Fencing-Token";

    private readonly HeaderRules _rules = new(config.Headers, new HeaderRewrite(config.RewriteHeaders));
    private readonly bool _tellsWay = new HeaderRewrite(config.RewriteHeaders).NameOf(ViaField.Name) is not null;
    private readonly HeaderRules _answerRules = new(config.Headers, new HeaderRewrite(config.RewriteAnswerHeaders));
    private readonly DirectExchange _direct = new(
        config,
        target,
        new HeaderRules(config.Headers, new HeaderRewrite(config.RewriteAnswerHeaders)),
        maxBodyBytes,
        time
    );

    public bool IsAsynchronous => true;

    public ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken) =>
        SendAsync(message, fencingToken: null, cancellationToken);

    public ValueTask<EsbMessage?> SendAsync(EsbMessage message, long fencingToken, CancellationToken cancellationToken) =>
        SendAsync(message, (long?)fencingToken, cancellationToken);

    // The endpoint's own servers, without a state machine in between.
    private ValueTask<EsbMessage?> SendAsync(EsbMessage message, long? fencingToken, CancellationToken cancellationToken) =>
        !address.ReadsBody && IsDirect(message)
            ? _direct.SendAsync(DirectlyOf(message, fencingToken), cancellationToken)
            : BufferAndSendAsync(message, fencingToken, cancellationToken);

    private static bool IsDirect(EsbMessage message) =>
        message.Body.IsBuffered && message.Headers[EsbHeaders.Target] is null && DirectRequest.CanWrite(message.Request);

    private async ValueTask<EsbMessage?> BufferAndSendAsync(EsbMessage message, long? fencingToken, CancellationToken cancellationToken)
    {
        if (address.ReadsBody)
            await message.Body.BufferAsync(maxBodyBytes, cancellationToken);
        if (IsDirect(message))
            return await _direct.SendAsync(DirectlyOf(message, fencingToken), cancellationToken);
        using var request = Compose(message);
        if (fencingToken is { } token)
            request.Headers.Add(FencingHeader, token.ToString(CultureInfo.InvariantCulture));
        try
        {
            using var response = await target.Client.SendAsync(request, cancellationToken);
            return HttpAnswers.Read(
                message,
                response,
                await HttpAnswerBody.ReadAsync(config.Name, request.Method, response, maxBodyBytes, cancellationToken),
                _answerRules,
                time
            );
        }
        catch (Exception ex) when (HttpFailures.Of(config.Name, request.RequestUri!, ex, cancellationToken) is { } failure)
        {
            throw failure;
        }
    }

    private DirectRequest DirectlyOf(EsbMessage message, long? fencingToken)
    {
        var destination = destinations.Of(target: null);
        var via = ViaOf(message);
        try
        {
            var url = address.Of(destination, message);
            return new DirectRequest(
                message,
                message.Request?.Method ?? destination.Method.Method,
                url,
                ReferenceEquals(url, destination.Url),
                HttpFields.Outgoing(message, _rules),
                _tellsWay ? via : null,
                fencingToken
            );
        }
        catch (EsbException ex)
        {
            throw Unsent(ex);
        }
    }

    private HttpRequestMessage Compose(EsbMessage message)
    {
        var destination = destinations.Of(message.Headers[EsbHeaders.Target]);
        var via = ViaOf(message);
        var method = message.Request?.Method ?? destination.Method.Method;
        var request = new HttpRequestMessage { Method = HttpMethod.Parse(method) };
        try
        {
            request.RequestUri = address.Of(destination, message);
            if (HttpMethodNames.HasBody(method) || (message.Body.Length != 0 && HttpMethodNames.MayHaveBody(method)))
                request.Content = ContentOf(message);
            foreach (var (name, value) in HttpFields.Outgoing(message, _rules))
            {
                if (!request.Headers.TryAddWithoutValidation(name, value))
                    request.Content?.Headers.TryAddWithoutValidation(name, value);
            }

            foreach (var (name, value) in message.Request?.Headers ?? [])
                SetHeader(request, name, value);
            if (_tellsWay)
                request.Headers.TryAddWithoutValidation(ViaField.Name, via);

            // Equal for every attempt, so that the external system can tell a redelivery from another message.
            if (HttpMethodNames.HasEffect(method) && !request.Headers.NonValidated.Contains(IdempotencyHeader.Name))
                request.Headers.TryAddWithoutValidation(IdempotencyHeader.Name, message.Id.ToString());
        }
        catch (EsbException ex)
        {
            request.Dispose();
            throw Unsent(ex);
        }

        return request;
    }

    private EndpointException Unsent(EsbException cause) =>
        new(config.Name, cause.Code, cause.Message, isTransient: false, cause, FaultKind.Invalid) { IsUnsent = true };

    // Takes the place of the message's own.
    private static void SetHeader(HttpRequestMessage request, string name, string value)
    {
        request.Headers.Remove(name);
        request.Headers.TryAddWithoutValidation(name, value);
    }

    private string ViaOf(EsbMessage message)
    {
        var hops = MessageHops.Of(message);
        if (hops < MessageHops.Most)
            return ViaField.Of(hops + 1);
        throw new EndpointException(
            config.Name,
            MessageHops.Code,
            $"The message has left the bus {hops} times and come back: it is routed in a circle.",
            isTransient: false,
            kind: FaultKind.Internal
        )
        {
            Status = StatusCodes.Status508LoopDetected,
            IsUnsent = true,
        };
    }

    private static HttpContent ContentOf(EsbMessage message)
    {
        HttpContent content = message.Body.IsBuffered ? new ReadOnlyMemoryContent(message.Body.Bytes) : new StreamedContent(message.Body);
        if (message.ContentType is { } type)
            content.Headers.TryAddWithoutValidation("Content-Type", type);
        return content;
    }
}
