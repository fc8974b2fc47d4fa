using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Idempotency;

/// <summary>Processes each keyed request once, and gives its repetitions the answer of the first (pattern: Idempotent Receiver).
/// Thread-safe.</summary>
/// <remarks>A failed request may be repeated. If its host dies, the key is free again after <see cref="IIdempotencyKeys.Lease"/>; the
/// repetition has the same message id.</remarks>
internal sealed partial class KeyedRequests(
    string endpoint,
    IIdempotencyKeys keys,
    IMessageIntake intake,
    TimeProvider time,
    ILogger logger
)
{
    private const int MaxBodyBytes = 256 * 1024;

    private static readonly TimeSpan RetryAfter = TimeSpan.FromSeconds(1);

    /// <summary>Answers a request.</summary>
    /// <param name="key">Its key.</param>
    /// <param name="message">Its message, with the id of <see cref="IdempotencyHeader.Identify"/>; of a body that still streams, the
    /// length counts.</param>
    /// <param name="work">Processes the message and reports if the result is durable.</param>
    /// <exception cref="EsbException"><c>ESB-HTTP-IDEMCONFLICT</c>: the key belongs to another body, path or query.
    /// <c>ESB-HTTP-IDEMRUNNING</c>: the first request is still in progress. <c>ESB-HTTP-IDEMANSWER</c>: its answer was too large to
    /// keep.</exception>
    public async Task<HttpAnswer> AnswerAsync(string key, EsbMessage message, Func<Task<(HttpAnswer Answer, bool IsDurable)>> work)
    {
        switch (await ClaimAsync(key, message))
        {
            case KeyClaim.Granted granted:
                return await WorkAsync(granted, work);
            case KeyClaim.Answered { Answer: var answer }:
                await intake.RecognizeAsync(
                    message,
                    "ESB-HTTP-DUPLICATE",
                    $"The request was answered before, with status {answer.Status}.",
                    CancellationToken.None
                );
                return Replay(answer);
            case KeyClaim.Running:
                throw await RefuseAsync(
                    message,
                    Refusal(
                        StatusCodes.Status409Conflict,
                        "ESB-HTTP-IDEMRUNNING",
                        $"A request with this {IdempotencyHeader.Name} is still worked on.",
                        RetryAfter
                    )
                );
            default:
                throw await RefuseAsync(
                    message,
                    Refusal(
                        StatusCodes.Status422UnprocessableEntity,
                        "ESB-HTTP-IDEMCONFLICT",
                        $"A request with this {IdempotencyHeader.Name} had another body, path or query."
                    )
                );
        }
    }

    private async Task<KeyClaim> ClaimAsync(string key, EsbMessage message)
    {
        try
        {
            return await keys.ClaimAsync(new IdempotencyKey(endpoint, message.Party, key), DigestOf(message), CancellationToken.None);
        }
        catch (EsbException ex)
        {
            throw await RefuseAsync(message, ex);
        }
    }

    // What distinguishes requests to one endpoint: the body, and where the request went. Of a body that is still to come, its length.
    private static byte[] DigestOf(EsbMessage message)
    {
        var body = message.Body.IsBuffered ? message.Body.Bytes : Encoding.ASCII.GetBytes($"length {message.Body.Length}");
        if (message.Properties is not { Count: > 0 } properties)
            return SHA256.HashData(body.Span);
        using var digest = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        digest.AppendData(body.Span);
        foreach (var (name, value) in properties.OrderBy(property => property.Key, StringComparer.Ordinal))
            digest.AppendData(JsonSerializer.SerializeToUtf8Bytes(new[] { name, (string)value }));
        return digest.GetHashAndReset();
    }

    private async Task<HttpAnswer> WorkAsync(KeyClaim.Granted claim, Func<Task<(HttpAnswer Answer, bool IsDurable)>> work)
    {
        await using var held = new HeldKey(keys, claim, time, logger);
        HttpAnswer answer;
        bool isDurable;
        try
        {
            (answer, isDurable) = await work();
            if (answer.Body is { } body)
                await body.BufferAsync(long.MaxValue, CancellationToken.None);
        }
        catch
        {
            await SettleAsync(() => keys.ReleaseAsync(claim, CancellationToken.None));
            throw;
        }

        await SettleAsync(() => keys.CompleteAsync(claim, Record(answer, isDurable), CancellationToken.None));
        return answer;
    }

    // The work is done and the sender gets its answer. After a failure here, a repetition is processed once the claim has expired, with
    // the same message id.
    private async Task SettleAsync(Func<Task> settle)
    {
        try
        {
            await settle();
        }
        catch (EsbException ex)
        {
            LogNotSettled(endpoint, ex);
        }
    }

    private static RecordedAnswer Record(HttpAnswer answer, bool isDurable)
    {
        var bytes = answer.Body?.Bytes ?? ReadOnlyMemory<byte>.Empty;
        var body = bytes.Length <= MaxBodyBytes ? bytes : default(ReadOnlyMemory<byte>?);
        return new RecordedAnswer(
            answer.Status,
            answer.ContentType,
            answer.Headers.ToDictionary(StringComparer.OrdinalIgnoreCase),
            body,
            isDurable
        );
    }

    private static HttpAnswer Replay(RecordedAnswer answer)
    {
        if (answer.Body is not { } body)
            throw Refusal(
                StatusCodes.Status409Conflict,
                "ESB-HTTP-IDEMANSWER",
                $"The request was answered before, with status {answer.Status} and more than {MaxBodyBytes} bytes, which were not kept."
            );
        return new HttpAnswer(
            answer.Status,
            answer.ContentType,
            [.. answer.Headers, new(IdempotencyHeader.Replayed, "true")],
            body.IsEmpty ? null : MessageBody.FromBytes(body)
        );
    }

    private async ValueTask<EsbException> RefuseAsync(EsbMessage message, EsbException refusal)
    {
        await intake.RefuseAsync(message, refusal.Code, refusal.Message, CancellationToken.None);
        return refusal;
    }

    private static EsbException Refusal(int status, string code, string detail, TimeSpan? retryAfter = null) =>
        new(code, detail, FaultKind.Invalid) { Status = status, RetryAfter = retryAfter };

    [LoggerMessage(
        EventId = 2131,
        Level = LogLevel.Warning,
        Message = "The outcome of a request to {Endpoint} could not be recorded with its key"
    )]
    private partial void LogNotSettled(string endpoint, Exception exception);
}
