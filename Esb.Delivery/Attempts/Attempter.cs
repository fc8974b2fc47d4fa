using Esb.Core.Alerts;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Delivery.Outages;
using Esb.Delivery.Outbound;
using Esb.Delivery.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Attempts;

/// <summary>The result of a round of attempts.</summary>
/// <param name="Answer">The reply of the external system; null if it gives none.</param>
/// <param name="Failure">The last failure; null after a success.</param>
/// <param name="Next">The action after the failure; never <see cref="NextAttempt.Now"/>.</param>
internal sealed record AttemptResult(EsbMessage? Answer, EsbException? Failure, NextAttempt? Next);

/// <summary>Sends a message, with as many attempts as may follow without delay. Thread-safe.</summary>
/// <remarks>Conditions that affect all messages do not count as attempts: an external system that is unreachable or rejects everything, and
/// an exhausted instance pool.</remarks>
internal sealed partial class Attempter(
    string endpoint,
    EndpointSender sender,
    OutageGate gate,
    RetryLadder ladder,
    Suspects suspects,
    DeliveryJournal journal,
    SendPace pace,
    TimeProvider time,
    ILogger<Attempter> logger
)
{
    // Prevents a busy loop when the pool has a short time-out.
    private static readonly TimeSpan PoolPause = TimeSpan.FromMilliseconds(100);

    /// <summary>Makes attempts until one succeeds, or until the next step requires a delay or a decision.</summary>
    /// <param name="attempts">The message.</param>
    /// <param name="isSuspect">True if the message may have crashed the process.</param>
    /// <param name="check">Called immediately before each attempt; throws if the attempt is not allowed.</param>
    /// <param name="keep">Persists the progress after a failed attempt, with the next action; null if the transport carries it.</param>
    /// <param name="tokens">Cancellation of waiting and sending.</param>
    public async Task<AttemptResult> RunAsync(
        DeliveryAttempts attempts,
        bool isSuspect,
        Func<Task>? check,
        Func<NextAttempt, Task>? keep,
        DeliveryTokens tokens
    )
    {
        while (true)
        {
            var pass = await gate.EnterAsync(tokens.Waiting);
            var outcome = await TryAsync(attempts, pass, isSuspect, check is null ? null : MayAsync, wantsAnswer: false, tokens);
            if (outcome.Failure is PoolTimeoutException)
                await Task.Delay(PoolPause, time, tokens.Waiting);
            if (outcome.IsNoAttempt)
            {
                // Another message becomes the next probe: if the rejection concerns only this message, the others will show it.
                if (outcome.Failure is EndpointException { IsTurnedAway: true } away && ladder.AfterOutage(away) is { } later)
                    return new AttemptResult(null, away, later);
                continue;
            }

            if (outcome.Failure is not { } failure)
                return new AttemptResult(outcome.Answer, null, null);
            await journal.FailedAsync(attempts, failure, tokens);
            var next = ladder.After(attempts.Count, failure);
            if (keep is not null)
                await keep(next);
            if (next is not NextAttempt.Now)
                return new AttemptResult(null, failure, next);
        }

        async ValueTask<bool> MayAsync()
        {
            await check();
            return true;
        }
    }

    /// <summary>Makes one attempt and reports the result to the gate.</summary>
    /// <param name="attempts">The message.</param>
    /// <param name="pass">The pass that the gate granted to the caller.</param>
    /// <param name="isSuspect">True if the message may have crashed the process.</param>
    /// <param name="isWanted">Checked again once an instance is available; null if the message is always wanted.</param>
    /// <param name="wantsAnswer">True if a caller waits for the answer, so that the endpoint's <c>reply</c> process produces it.</param>
    /// <param name="tokens">Cancellation of waiting and sending.</param>
    public async Task<AttemptOutcome> TryAsync(
        DeliveryAttempts attempts,
        GatePass pass,
        bool isSuspect,
        Func<ValueTask<bool>>? isWanted,
        bool wantsAnswer,
        DeliveryTokens tokens
    )
    {
        var reported = false;
        try
        {
            await pace.WaitAsync(tokens.Waiting);
            var prepared = new PreparedMessage(attempts.Current, TimeSpan.Zero);
            if (sender.Processes.Prepares)
            {
                if (isWanted is not null && !await isWanted())
                    return AttemptOutcome.Unwanted;
                tokens.ThrowIfLost();
                attempts.Begin();
                (prepared, var refused) = await PrepareAsync(attempts.Current, isSuspect, tokens);
                if (refused is not null)
                {
                    reported = true;
                    return Conclude(attempts, null, refused, pass);
                }

                if (prepared.IsFiltered)
                {
                    attempts.Succeed();
                    return new AttemptOutcome(prepared.Message, null, IsNoAttempt: false);
                }

                attempts.Forget(); // until an instance is rented
            }

            using var rental = await sender.RentAsync(prepared.Spent, tokens.Waiting);
            if (isWanted is not null && !await isWanted())
                return AttemptOutcome.Unwanted;
            tokens.ThrowIfLost();
            attempts.Begin();
            var sent = sender.Processes.Prepares ? prepared.Message : attempts.Current;
            var (answer, failure) = await SendAsync(rental, sent, isSuspect, wantsAnswer, tokens);
            reported = true;
            return Conclude(attempts, answer, failure, pass);
        }
        catch (PoolTimeoutException ex)
        {
            return new AttemptOutcome(null, ex, IsNoAttempt: true);
        }
        catch (EndpointException ex)
        {
            attempts.Begin(); // creating an instance failed
            attempts.Fail(ex);
            return new AttemptOutcome(null, ex, IsNoAttempt: false);
        }
        finally
        {
            if (pass == GatePass.Probe && !reported)
                gate.Abandon();
        }
    }

    private AttemptOutcome Conclude(DeliveryAttempts attempts, EsbMessage? answer, EsbException? failure, GatePass pass)
    {
        var isAway = Tell(attempts.Current.Id, failure, pass);
        if (failure is not null)
            attempts.Doubt(failure);
        if (isAway)
            attempts.Forget();
        else if (failure is not null)
            attempts.Fail(failure);
        else
            attempts.Succeed();
        return new AttemptOutcome(answer, failure, IsNoAttempt: isAway);
    }

    // A process may crash the host as well as an instance does.
    private async Task<(PreparedMessage Prepared, EsbException? Failure)> PrepareAsync(
        EsbMessage message,
        bool isSuspect,
        DeliveryTokens tokens
    )
    {
        try
        {
            if (!isSuspect)
                return (await sender.Processes.PrepareAsync(message, null, tokens.Aborting), null);
            var prepared = default(PreparedMessage);
            await suspects.SendAsync(
                endpoint,
                message,
                async () => (prepared = await sender.Processes.PrepareAsync(message, null, tokens.Aborting)).Message,
                tokens.Leaving
            );
            return (prepared, null);
        }
        catch (EsbException failure)
        {
            tokens.ThrowIfLost();
            return (default, failure);
        }
    }

    // Catches only failures of the endpoint: a fact that cannot be recorded is not a failed attempt.
    private async Task<(EsbMessage? Answer, EsbException? Failure)> SendAsync(
        EndpointRental rental,
        EsbMessage message,
        bool isSuspect,
        bool wantsAnswer,
        DeliveryTokens tokens
    )
    {
        try
        {
            var answer = isSuspect
                ? await suspects.SendAsync(
                    endpoint,
                    message,
                    () => rental.SendAsync(message, null, tokens.Lease?.Token, tokens.Aborting),
                    tokens.Leaving
                )
                : await rental.SendAsync(message, null, tokens.Lease?.Token, tokens.Aborting);
            var failure = answer is null || FilteredAnswer.Is(answer) ? null : sender.Adapter.FailureOf(answer);
            if (failure is not null)
                tokens.ThrowIfLost();
            if (failure is null && wantsAnswer)
                answer = await sender.Processes.ReplyAsync(message, answer, null, tokens.Aborting);
            return (answer, failure);
        }
        catch (EsbException failure)
        {
            if (failure.Code == IFencedEndpoint.FencingCode)
                tokens.Lease?.Lose(); // before the local clock ended it
            tokens.ThrowIfLost(); // the failure concerns this host, not the message
            return (null, failure);
        }
    }

    // Returns true if the failure shows that the external system is unreachable, and therefore says nothing about the message.
    private bool Tell(Guid messageId, EsbException? failure, GatePass pass)
    {
        var reason = failure is null ? "" : FailureReport.Of(failure); // shown in the endpoint status
        if (failure is not null and not EndpointException or EndpointException { IsUnsent: true, IsOutage: false })
        {
            if (pass == GatePass.Probe)
                gate.Abandon(); // the probe was inconclusive
            return false;
        }

        if (failure is EndpointException { IsOutage: true })
        {
            if (gate.Missed(reason, pass))
                TellPaused(failure, reason);
            return true;
        }

        if (failure is EndpointException { IsUnanswered: true } or EndpointException { IsTurnedAway: true })
        {
            if (gate.Unanswered(messageId, reason, failure.RetryAfter, pass))
                TellPaused(failure, reason);
        }
        else if (gate.Reached())
        {
            LogResumed(endpoint);
        }

        if (failure is not null && ladder.PauseOf(failure) is { } quiet && gate.Pause(reason, quiet))
            LogQuiet(endpoint, quiet);
        // an unanswered send may have taken effect and stays an attempt
        return failure is EndpointException { IsTurnedAway: true } && gate.IsOutageShown;
    }

    private void TellPaused(EsbException failure, string reason)
    {
        LogPaused(endpoint, reason);
        journal.Alerts?.Raise(new Alert(AlertKinds.Paused, endpoint, failure.Code, reason));
    }

    [LoggerMessage(EventId = 2404, Level = LogLevel.Warning, Message = "Endpoint {Endpoint} paused, external system unreachable: {Reason}")]
    private partial void LogPaused(string endpoint, string reason);

    [LoggerMessage(
        EventId = 2405,
        Level = LogLevel.Information,
        Message = "Endpoint {Endpoint} resumes: its external system is reachable again"
    )]
    private partial void LogResumed(string endpoint);

    [LoggerMessage(EventId = 2433, Level = LogLevel.Warning, Message = "Endpoint {Endpoint} pauses for {Quiet}, as its system asked")]
    private partial void LogQuiet(string endpoint, TimeSpan quiet);
}
