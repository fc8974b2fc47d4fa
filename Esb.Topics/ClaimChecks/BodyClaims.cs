using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.ClaimChecks;

/// <summary>Puts a reference in the place of a large body, and the body back in its place (pattern: Claim Check). Thread-safe.</summary>
/// <remarks>
/// The reference is the header <see cref="EsbHeaders.Claim"/> of a message without a body. It is believed of whomever: it cannot be guessed, so that who has one was
/// given it by somebody who had the body, and what is redeemed is proved by its hash.
/// </remarks>
/// <param name="store">Keeps the bodies.</param>
/// <param name="threshold">The largest body, in bytes, that travels whole.</param>
/// <param name="travelsWhole">Whether the bodies of a topic always do: foreign clients read them.</param>
/// <param name="time">Paces what is tried again, and warnings.</param>
/// <param name="logger">Hears of a store that is away.</param>
internal sealed partial class BodyClaims(IClaimCheckStore store, long threshold, Predicate<string> travelsWhole, TimeProvider time, ILogger logger)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    // A store that does not answer costs a publish its time-out: one in a while, not each.
    private readonly Cooldown _away = new(TimeSpan.FromSeconds(5), time);
    private readonly Cooldown _warned = new(TimeSpan.FromMinutes(1), time);

    /// <summary>The message as it travels to a topic or an endpoint. Sent again it has the same reference.</summary>
    public ValueTask<EsbMessage> CheckInAsync(EsbMessage message) =>
        message.Body.Bytes.Length <= threshold || !store.IsAvailable || travelsWhole(Subject.TopicOf(message.Subject))
            ? ValueTask.FromResult(message)
            : KeepAsync(message);

    /// <summary>The reply as it goes to a host of ours.</summary>
    public ValueTask<EsbMessage> CheckInReplyAsync(EsbMessage reply) =>
        reply.Body.Bytes.Length <= threshold || !store.IsAvailable ? ValueTask.FromResult(reply) : KeepAsync(reply);

    /// <summary>The message with its body.</summary>
    /// <exception cref="EsbException"><c>ESB-CLAIM-GONE</c>: the body is kept no more, or never was. Otherwise the store is away, and a later try may succeed.</exception>
    public async ValueTask<EsbMessage> RedeemAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        if (message.Headers[EsbHeaders.Claim] is not { } reference) return message;
        var body = ClaimTicket.Parse(reference) is { } ticket ? await store.FindAsync(ticket, cancellationToken) : null;
        if (body is null) throw Gone(reference);
        return message with { Body = body, Headers = message.Headers.Without(EsbHeaders.Claim) };
    }

    /// <summary>The message with its body. A store that is away is waited for, for half a minute: given back, the message would come again at once.</summary>
    /// <exception cref="EsbException">As of <see cref="RedeemAsync"/>.</exception>
    public async ValueTask<EsbMessage> AwaitAsync(EsbMessage message, CancellationToken stopping)
    {
        if (message.Headers[EsbHeaders.Claim] is null) return message;
        var (started, backoff) = (time.GetTimestamp(), new Backoff(time));
        while (true)
        {
            try
            {
                return await RedeemAsync(message, stopping);
            }
            catch (EsbException ex) when (ex.IsTransient && time.GetElapsedTime(started) < Patience)
            {
                if (_warned.TryBegin()) LogHeld(ex.Code);
            }

            await backoff.WaitAsync(stopping);
        }
    }

    /// <summary>A handler of dead letters that gets them with their bodies, as far as there are any.</summary>
    public DeadLetterHandler Redeeming(DeadLetterHandler handler) => async (letter, cancellationToken) =>
    {
        try
        {
            letter = letter with { Message = await RedeemAsync(letter.Message, cancellationToken) };
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            if (letter.Code != ex.Code) letter = letter with { Reason = $"{letter.Reason} {ex.Code}: {ex.Message}" };
        }

        await handler(letter, cancellationToken);
    };

    // Whole it travels as well: a store that is away stops no intake.
    private async ValueTask<EsbMessage> KeepAsync(EsbMessage message)
    {
        if (_away.IsRunning) return message;
        try
        {
            var ticket = await message.Body.View(bytes => new KeptBody(bytes)).KeepAsync(store);
            return message with { Body = MessageBody.Empty, Headers = message.Headers.With(EsbHeaders.Claim, ticket.ToString()) };
        }
        catch (EsbException ex)
        {
            _away.TryBegin();
            if (_warned.TryBegin()) LogWhole(ex.Code);
            return message;
        }
    }

    private EsbException Gone(string reference) => new(
        "ESB-CLAIM-GONE",
        store.IsAvailable
            ? $"The body is not kept any more under {reference}, or never was."
            : $"The body is kept under {reference}, but this host shares no place for bodies with its sender (store.claims).",
        FaultKind.Invalid);

    [LoggerMessage(EventId = 1555, Level = LogLevel.Warning, Message = "Large bodies travel whole: their store takes none ({Code})")]
    private partial void LogWhole(string code);

    [LoggerMessage(EventId = 1558, Level = LogLevel.Warning, Message = "Messages wait for their large bodies: the store gives none ({Code})")]
    private partial void LogHeld(string code);
}
