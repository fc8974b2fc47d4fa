using System.Diagnostics;
using Esb.Content.Splitting;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Runs the steps of a split with single items, and keeps those that fail. Thread-safe.</summary>
/// <param name="place">The id or the location of the split.</param>
/// <param name="run">The steps.</param>
/// <param name="letters">Keeps failed items.</param>
/// <param name="time">The clock.</param>
internal sealed class SplitItems(string place, MessageStep run, IDeadLetterChannel letters, TimeProvider time)
{
    private const string Unrecorded = "ESB-AUD-UNRECORDED";

    public string Place => place;

    /// <summary>The context of an item.</summary>
    /// <param name="context">The whole message.</param>
    /// <param name="item">The item.</param>
    /// <param name="division">Names the division.</param>
    /// <param name="index">The number of the item, from 0.</param>
    /// <param name="isAlone">False if the steps of other items run meanwhile.</param>
    public static MessageContext Begin(MessageContext context, SplitItem item, string division, int index, bool isAlone)
    {
        var message = context.Message with { Id = context.PartId(division, index), Body = item.Body, ContentType = item.ContentType };
        var part = isAlone ? context.ForPart(message) : context.ForBranch(message);
        part.End = context.End?.Branch();
        part.SetProperty("split.index", (double)index);
        part.SetProperty("split.line", item.Line > 0 ? (double)item.Line : null);
        part.SetProperty("split.id", context.Received.Id.ToString());
        foreach (var (name, value) in item.Properties)
            part.SetProperty($"split.{name}", value);
        return part;
    }

    /// <summary>Runs the steps with an item; false if it became a dead letter.</summary>
    /// <param name="part">Its context (<see cref="Begin"/>).</param>
    /// <param name="item">The item.</param>
    /// <param name="index">The number of the item, from 0.</param>
    /// <param name="joint">The commit of all items, which its failure prevents; null where each item takes effect by itself.</param>
    /// <param name="cancellationToken">Cancels the steps.</param>
    /// <exception cref="EsbException">The whole message fails: the fault is not of the item, such as an unavailable topic. A repetition
    /// gives the same ids.</exception>
    public async Task<bool> RunAsync(
        MessageContext part,
        SplitItem item,
        int index,
        SplitCommit? joint,
        CancellationToken cancellationToken
    )
    {
        var (began, message, end, isInTransaction) = (time.GetUtcNow(), part.Message, part.End, part.UnitOfWork is not null);
        MaskedFlow.Include(part);
        try
        {
            if (item.Fault is not null)
                throw item.Fault;
            await run(part, cancellationToken);
            if (joint is not null)
                joint.Add(end);
            else if (end is not null)
                await end.SucceedAsync(CancellationToken.None); // it has taken effect
            return true;
        }
        catch (EsbException ex) when (joint is not null && !ex.IsTransient)
        {
            if (end is not null)
                await end.FailAsync();
            throw new EsbException(ex.Code, $"{PlaceOf(item, index)}, and none takes effect: {ex.Message}", ex.Kind, ex)
            {
                Status = ex.Status,
            };
        }
        catch (EsbException ex) when (IsOfItem(ex, isInTransaction))
        {
            if (end is not null)
                await end.FailAsync();
            await letters.KeepAsync(LetterOf(message, ex, item, index, part, began), cancellationToken);
            return false;
        }
        catch
        {
            if (end is not null)
                await end.FailAsync();
            throw;
        }
    }

    private static string PlaceOf(SplitItem item, int index) => item.Line > 0 ? $"Item {index} at line {item.Line}" : $"Item {index}";

    // What a repetition may change is no fault of the item; in a transaction the items take effect together.
    private static bool IsOfItem(EsbException failure, bool isInTransaction) =>
        !failure.IsTransient && failure.Code != Unrecorded && !isInTransaction;

    private DeadLetter LetterOf(
        EsbMessage message,
        EsbException failure,
        SplitItem item,
        int index,
        MessageContext part,
        DateTimeOffset began
    )
    {
        var step = part.FailedStep is null ? "" : $", step {part.FailedStep}";
        var reason = $"{PlaceOf(item, index)} of message {part.Received.Id}{step}: {failure.Message}";
        return new DeadLetter(
            message,
            part.Endpoint,
            failure.Code,
            FailedAttempts.Cut(MaskedFlow.Clean(reason), DeadLetter.MaxReasonLength),
            failure.GetType().FullName,
            Attempts: 1,
            began,
            time.GetUtcNow()
        )
        {
            TraceParent = Activity.Current?.Id,
        };
    }
}
