using Esb.Content.Json;
using Esb.Core.Errors;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps.Scattering;

/// <summary>One of several calls or requests at once. Thread-safe.</summary>
/// <param name="from">The endpoint or the subject.</param>
/// <param name="run">The call or the request.</param>
/// <param name="maxBytes">The largest answer.</param>
internal sealed class ScatterBranch(string from, MessageStep run, long maxBytes)
{
    /// <summary>Runs the call or the request; its failure is an answer too.</summary>
    /// <param name="part">A context of its own.</param>
    /// <param name="ended">Ends when no answer is waited for any more.</param>
    /// <param name="cancellationToken">Cancels the message.</param>
    public async Task<ScatterAnswer> RunAsync(MessageContext part, CancellationToken ended, CancellationToken cancellationToken)
    {
        try
        {
            await run(part, ended);
            await part.Message.Body.BufferAsync(maxBytes, ended);
            return new ScatterAnswer(from, part, AnswerJson.Of(part.Message.Body, part.Message.ContentType), Failure: null);
        }
        catch (EsbException ex)
        {
            return new ScatterAnswer(from, part, default, ex);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return new ScatterAnswer(
                from,
                part,
                default,
                new EsbException("ESB-SCATTER-TIMEOUT", "There was no answer in time.", FaultKind.Timeout)
            );
        }
    }
}

/// <summary>The end of a branch.</summary>
/// <param name="From">The endpoint or the subject.</param>
/// <param name="Part">The context of the branch, whose message is the answer.</param>
/// <param name="Json">The answer as JSON; empty after a failure.</param>
/// <param name="Failure">Why there is no good answer; null if there is one.</param>
internal sealed record ScatterAnswer(string From, MessageContext Part, ReadOnlyMemory<byte> Json, EsbException? Failure);
