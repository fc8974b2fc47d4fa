using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.ClaimChecks;

/// <summary>Replaces a large body by a reference, and the reference by the body (pattern: Claim Check). Thread-safe.</summary>
/// <remarks>
/// The reference is the header <see cref="EsbHeaders.Claim"/> of a message without a body. It is accepted from any sender: it cannot be
/// guessed, so the sender received it from a holder of the body, and the redeemed body is verified by its hash.
/// </remarks>
/// <param name="store">Keeps the bodies.</param>
/// <param name="limits.Current.ClaimCheck.Bytes">The largest body, in bytes, that is sent inline.</param>
/// <param name="travelsWhole">True for topics whose bodies are always sent inline, because foreign clients read them.</param>
/// <param name="time">Paces retries and warnings.</param>
/// <param name="logger">Logs that the store is unreachable.</param>
internal sealed partial class BodyClaims(
    IClaimCheckStore store,
    Live<LimitsConfig> limits,
    Predicate<string> travelsWhole,
    TimeProvider time,
    ILogger logger
)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    // A publish to an unresponsive store waits for its time-out. Only one publish per interval tries it.
    private readonly Cooldown _away = new(TimeSpan.FromSeconds(5), time);
    private readonly Cooldown _warned = new(TimeSpan.FromMinutes(1), time);

    /// <summary>Returns the message in the form sent to a topic or an endpoint. A message that is sent again keeps its reference.</summary>
    public ValueTask<EsbMessage> CheckInAsync(EsbMessage message) =>
        !message.Body.IsBuffered ? ValueTask.FromResult(WithoutBody(message))
        : message.Body.Bytes.Length <= limits.Current.ClaimCheck.Bytes
        || !store.IsAvailable
        || travelsWhole(Subject.TopicOf(message.Subject))
            ? ValueTask.FromResult(message)
        : KeepAsync(message);

    /// <summary>Returns the reply in the form sent to a host of this bus.</summary>
    public ValueTask<EsbMessage> CheckInReplyAsync(EsbMessage reply) =>
        reply.Body.Bytes.Length <= limits.Current.ClaimCheck.Bytes || !store.IsAvailable ? ValueTask.FromResult(reply) : KeepAsync(reply);

    /// <summary>Returns the message with its body.</summary>
    /// <exception cref="EsbException"><c>ESB-CLAIM-GONE</c>: the body is no longer kept, or never was. Otherwise the store is unreachable,
    /// and a later attempt may succeed.</exception>
    public async ValueTask<EsbMessage> RedeemAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        if (message.Headers[EsbHeaders.Claim] is not { } reference)
            return message;
        var body = ClaimTicket.Parse(reference) is { } ticket ? await store.FindAsync(ticket, cancellationToken) : null;
        if (body is null)
            throw Gone(reference);
        if (!body.IsBuffered && body.Length > limits.Current.MaxBodySize.Bytes)
            return message with { Body = body }; // too large for memory: it stays a reference wherever it is kept
        await body.BufferAsync(limits.Current.MaxBodySize.Bytes, cancellationToken);
        return message with { Body = body, Headers = message.Headers.Without(EsbHeaders.Claim) };
    }

    /// <summary>Returns the message with its body. Waits half a minute for an unreachable store: a returned message would be redelivered at
    /// once.</summary>
    /// <exception cref="EsbException">As for <see cref="RedeemAsync"/>.</exception>
    public async ValueTask<EsbMessage> AwaitAsync(EsbMessage message, CancellationToken stopping)
    {
        if (message.Headers[EsbHeaders.Claim] is null)
            return message;
        var (started, backoff) = (time.GetTimestamp(), new Backoff(time));
        while (true)
        {
            try
            {
                return await RedeemAsync(message, stopping);
            }
            catch (EsbException ex) when (ex.IsTransient && time.GetElapsedTime(started) < Patience)
            {
                if (_warned.TryBegin())
                    LogHeld(ex.Code);
            }

            await backoff.WaitAsync(stopping);
        }
    }

    /// <summary>Returns a handler that receives dead letters with their bodies, where these exist.</summary>
    public DeadLetterHandler Redeeming(DeadLetterHandler handler) =>
        async (letter, cancellationToken) =>
        {
            try
            {
                letter = letter with { Message = await RedeemAsync(letter.Message, cancellationToken) };
            }
            catch (EsbException ex) when (!ex.IsTransient)
            {
                if (letter.Code != ex.Code)
                    letter = letter with { Reason = $"{letter.Reason} {ex.Code}: {ex.Message}" };
            }

            await handler(letter, cancellationToken);
        };

    // Published as a stream: its reference is among its headers.
    private static EsbMessage WithoutBody(EsbMessage message) =>
        message.Headers[EsbHeaders.Claim] is null
            ? throw new InvalidOperationException("The body of the message is not in memory, and not kept.")
            : message with
            {
                Body = MessageBody.Empty,
            };

    // If the store is unreachable, the message is sent with its body, so that intake does not stop.
    private async ValueTask<EsbMessage> KeepAsync(EsbMessage message)
    {
        if (_away.IsRunning)
            return message;
        try
        {
            var ticket = await message.Body.View(bytes => new KeptBody(bytes)).KeepAsync(store);
            return message with { Body = MessageBody.Empty, Headers = message.Headers.With(EsbHeaders.Claim, ticket.ToString()) };
        }
        catch (EsbException ex)
        {
            _away.TryBegin();
            if (_warned.TryBegin())
                LogWhole(ex.Code);
            return message;
        }
    }

    private EsbException Gone(string reference) =>
        new(
            "ESB-CLAIM-GONE",
            store.IsAvailable
                ? $"The body is not kept any more under {reference}, or never was."
                : $"The body is kept under {reference}, but this host shares no place for bodies with its sender (store.claims).",
            FaultKind.Invalid
        );

    [LoggerMessage(EventId = 1555, Level = LogLevel.Warning, Message = "Large bodies travel whole: their store is not available ({Code})")]
    private partial void LogWhole(string code);

    [LoggerMessage(
        EventId = 1558,
        Level = LogLevel.Warning,
        Message = "Messages wait for their large bodies: the store is not available ({Code})"
    )]
    private partial void LogHeld(string code);
}
