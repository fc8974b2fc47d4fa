using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Parties;
using Esb.Delivery;
using Esb.Endpoints.Http.Decoding;
using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>Creates a message from a request. Thread-safe.</summary>
/// <param name="config">The endpoint.</param>
/// <param name="maxBodyBytes">The largest body.</param>
/// <param name="time">The clock.</param>
/// <param name="bodyTimeout">How long a body that is streamed may stand still.</param>
internal sealed class HttpMessageReader(
    ListeningEndpointConfig config,
    long maxBodyBytes,
    TimeProvider time,
    TimeSpan bodyTimeout = default
)
{
    private const int MaxCorrelationLength = 128;

    private static readonly Counter<long> ReservedHeaders = EndpointsTelemetry.Meter.Counter<long>(EsbTelemetry.Metrics.ReservedHeaders);

    private readonly HeaderRules _rules = new(config.Headers, new HeaderRewrite(config.RewriteHeaders));
    private readonly QueryParameters _query = new(config.Query);
    private readonly RequestProperties _properties = new(new RoutePath(config.RequestPath));
    private readonly AcceptedTypes _accepted = new(config.Accept);

    /// <summary>Reads the message without its body; nothing is checked yet.</summary>
    public EsbMessage ReadEnvelope(HttpRequest request)
    {
        var headers = _rules.Admit(HeadersOf(request), out var reserved);
        if (reserved > 0)
            ReservedHeaders.Add(reserved, new TagList { { EsbTelemetry.Tags.Endpoint, config.Name } });
        var message = EsbMessage.Create(MessageBody.Empty, time, headers, request.ContentType, PartyOf(request));
        return MessageHops.Set(message, ViaField.HopsOf(request.Headers.Via));
    }

    private string? PartyOf(HttpRequest request) =>
        config.Authentication.Count == 0 ? config.Party : request.HttpContext.Features.Get<Party>()?.Name;

    /// <summary>Reads the correlation id of the caller; null if absent.</summary>
    /// <exception cref="EsbException">The correlation id is invalid.</exception>
    public static string? ReadCorrelation(HttpRequest request)
    {
        var values = request.Headers[HttpFields.CorrelationId];
        if (values.Count > 1)
            throw HttpContentRules.Duplicate(HttpFields.CorrelationId);
        if (values.ToString() is not { Length: > 0 } id)
            return null;
        return id.Length <= MaxCorrelationLength && HeaderRules.IsValue(id)
            ? id
            : throw HttpProblems.Of(
                StatusCodes.Status400BadRequest,
                "ESB-HDR-CORRELATION",
                $"{HttpFields.CorrelationId} is longer than {MaxCorrelationLength} characters."
            );
    }

    /// <summary>Adds the headers created from the query to the headers of a message.</summary>
    /// <exception cref="EsbException">A parameter is invalid (<see cref="QueryParameters"/>).</exception>
    public MessageHeaders ReadQuery(HttpRequest request, MessageHeaders headers) =>
        config.Query.Count == 0 ? headers : _query.AddTo(headers, request.Query);

    /// <summary>Reads the properties that the path and the query bring; null if there are none.</summary>
    /// <exception cref="EsbException">The query has too many parameters (<see cref="RequestProperties"/>).</exception>
    public IReadOnlyDictionary<string, object>? ReadProperties(HttpRequest request) => _properties.Read(request);

    /// <summary>Reads the whole body, after all checks that do not need it.</summary>
    /// <exception cref="EsbException">The type or size of the body is not accepted, or the body did not arrive.</exception>
    public async ValueTask<MessageBody> ReadBodyAsync(HttpContext context)
    {
        HttpContentRules.Require(context, _accepted, maxBodyBytes);
        var isPacked = HttpContentRules.IsPacked(context);
        if (config.BodyTransfer == BodyTransfer.Streamed)
            return isPacked ? throw HttpContentRules.Packed(context) : RequestBodyStream.Of(context, bodyTimeout);
        try
        {
            var body = isPacked ? await GzipBody.ReadAsync(context.Request.Body, maxBodyBytes) : await ReadPlainAsync(context.Request);
            BodyCharset.Require(context.Request.ContentType, body.Bytes.Span);
            return body;
        }
        catch (IOException ex)
        {
            throw HttpContentRules.Explain(ex, context);
        }
    }

    private async ValueTask<MessageBody> ReadPlainAsync(HttpRequest request)
    {
        // No token: a cancelled read leaves the server's body reader unusable. The server itself ends the reads of callers that disconnect
        // or are too slow.
        var body = MessageBody.FromStream(request.Body, request.ContentLength);
        await body.BufferAsync(maxBodyBytes, CancellationToken.None);
        return body;
    }

    // Those that the rules admit, or count as reserved.
    private IReadOnlyList<KeyValuePair<string, string>> HeadersOf(HttpRequest request)
    {
        List<KeyValuePair<string, string>>? headers = null; // most requests have none
        var connection = request.Headers.Connection;
        foreach (var (name, values) in request.Headers)
        {
            if (HttpFields.EndsHere(name, connection) || HttpFields.IsOfContent(name))
                continue;
            if (!_rules.Allows(name) && !HeaderRules.IsReserved(name))
                continue;
            foreach (var value in values)
                (headers ??= []).Add(new(name, value ?? ""));
        }

        return headers ?? [];
    }
}
