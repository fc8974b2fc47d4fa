using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>What a message is to a workflow: which waits would take it, and whether it starts an instance. Immutable.</summary>
internal sealed record Offer(IReadOnlyList<(string Wait, string Key)> Matches, bool Starts, string? StartKey)
{
    /// <summary>Hashes of the waits that would take it.</summary>
    public IReadOnlyList<string> Waits => [.. Matches.Select(match => match.Wait)];

    /// <summary>True if the store has to be asked before the message is used: for a message that only starts, its checkpoint tells whether
    /// it is known.</summary>
    public bool NeedsLookUp => Matches.Count > 0 || StartKey is not null;

    /// <param name="living">The program of each definition with living instances.</param>
    /// <param name="current">The program that starts instances.</param>
    /// <param name="message">The message.</param>
    /// <exception cref="EsbException">The message cannot be read, or has no value for a key.</exception>
    public static Offer Of(IReadOnlyList<BoundProgram> living, BoundProgram current, EsbMessage message)
    {
        var context = new MessageContext(message, WorkflowQueues.SubscriberOf(current.Model.Name));
        var matches = new HashSet<(string, string)>();
        EsbException? unreadable = null;
        foreach (
            var (subjects, match) in living
                .SelectMany(program => program.Model.Waits)
                .Where(wait => wait.Subjects.Any(subject => subject.Matches(message.Subject)))
        )
        {
            try
            {
                var key = MatchedKeys.Hash(current.Model.Name, match.Of(context));
                matches.Add((MatchedKeys.Hash(subjects, key), key));
            }
            catch (EsbException ex)
            {
                unreadable = ex; // another wait may read it
            }
        }

        var starts = current.Model.Starts.Any(start =>
            start.Subjects.Any(subject => subject.Matches(message.Subject)) && start.If?.Holds(context) != false
        );
        if (matches.Count == 0 && !starts && unreadable is not null)
            throw unreadable;
        return new Offer(
            [.. matches],
            starts,
            starts && current.Model.WhenRunning != WhenRunning.New ? StartKeyOf(current, message) : null
        );
    }

    /// <summary>Returns the business keys by which the message is correlated, as a hash; null where it has none, and one text for all
    /// messages of which it cannot be told: those with several sets of keys, and those whose body is kept elsewhere.</summary>
    /// <exception cref="EsbException">The message has no value for the keys with which it starts an instance.</exception>
    public static string? TurnOf(IReadOnlyList<BoundProgram> living, BoundProgram current, EsbMessage message)
    {
        const string Unclear = "";
        if (message.Headers[EsbHeaders.Claim] is not null)
            return Unclear;
        var context = new MessageContext(message, WorkflowQueues.SubscriberOf(current.Model.Name));
        var keys = new HashSet<string>();
        foreach (
            var (_, match) in living
                .SelectMany(program => program.Model.Waits)
                .Where(wait => wait.Subjects.Any(subject => subject.Matches(message.Subject)))
        )
        {
            try
            {
                keys.Add(MatchedKeys.Hash(current.Model.Name, match.Of(context)));
            }
            catch (EsbException)
            {
                // another wait may read it; what none can read is refused when it is taken
            }
        }

        return keys.Count switch
        {
            0 => StartKeyOf(current, message),
            1 => keys.Single(),
            _ => Unclear,
        };
    }

    public static string? StartKeyOf(BoundProgram program, EsbMessage message) =>
        program.Model.Correlate.Names.Count == 0
            ? null
            : MatchedKeys.Hash(
                program.Model.Name,
                program.Model.Correlate.Of(new MessageContext(message, WorkflowQueues.SubscriberOf(program.Model.Name)))
            );
}
