using System.Collections.ObjectModel;
using System.Text.Json;
using System.Text.Json.Serialization;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Steps;

namespace Esb.Workflows.Workflows.State;

/// <summary>Place and variables of an instance: what its snapshot holds. Used by one thread at a time.</summary>
internal sealed class InstanceState
{
    /// <summary>The threads of the instance: one, or those of the branches of <c>parallel</c> with the ones that wait for them.</summary>
    public List<Token> Tokens { get; init; } = [];

    [JsonIgnore]
    public Dictionary<string, StoredValue> Variables { get; init; } = [];

    /// <summary>The variables as the snapshot has them: of a large one the name of its value.</summary>
    [JsonInclude, JsonPropertyName("variables")]
    internal Dictionary<string, StoredValue> WrittenVariables
    {
        get =>
            Variables.Values.Any(value => value.IsLarge)
                ? Variables.ToDictionary(variable => variable.Key, variable => variable.Value.ToWritten())
                : Variables;
        init => Variables = value;
    }

    /// <summary>Business keys by name.</summary>
    public SortedDictionary<string, string> Keys { get; init; } = new(StringComparer.Ordinal);

    /// <summary>Hashes of keys that the store has for the instance.</summary>
    public HashSet<string> KeyHashes { get; init; } = [];

    /// <summary>Completed scopes that can be undone, oldest first.</summary>
    public List<CompletedScope> Scopes { get; init; } = [];

    /// <summary>The last number given to a token, wait or visit.</summary>
    public int Numbers { get; set; }

    /// <summary>Steps in all, for the limit of the history.</summary>
    public int Steps { get; set; }

    /// <summary>True if the store has a timer by which another host goes on.</summary>
    public bool IsLeased { get; set; }

    /// <summary>Who waits for the answer of the step <c>respond</c>; null if nobody does, or if it was given.</summary>
    public Caller? Caller { get; set; }

    /// <summary>The wait of the parent that this instance ends; null if none.</summary>
    public ParentWait? Parent { get; set; }

    /// <summary>True while an operator's end undoes the scopes.</summary>
    public bool IsUndoing { get; set; }

    public byte[] Write() => JsonSerializer.SerializeToUtf8Bytes(this, WorkflowJson.Default.InstanceState);

    /// <summary>The large values that stand outside the snapshot, by their names.</summary>
    public IReadOnlyDictionary<string, ReadOnlyMemory<byte>> LargeValues()
    {
        if (!Variables.Values.Any(value => value.IsLarge))
            return ReadOnlyDictionary<string, ReadOnlyMemory<byte>>.Empty;
        var large = Variables.Values.Where(value => value.IsLarge).Select(value => value.Large).DistinctBy(value => value.Name);
        return large.ToDictionary(value => value.Name, value => value.Bytes);
    }

    /// <summary>The state without its large values, as an instance in a list has it.</summary>
    public static InstanceState ReadPlaces(WorkflowInstance instance) =>
        JsonSerializer.Deserialize(instance.Snapshot.Span, WorkflowJson.Default.InstanceState)!;

    public static InstanceState Read(WorkflowInstance instance)
    {
        var state = ReadPlaces(instance);
        foreach (var (variable, value) in state.Variables.Where(variable => variable.Value.Outside is not null).ToList())
            state.Variables[variable] = StoredValue.Read(new LargeValue(value.Outside!, instance.LargeValues[value.Outside!]));
        return state;
    }
}

/// <summary>A thread of an instance.</summary>
internal sealed class Token
{
    public required int Number { get; init; }

    /// <summary>The token that waits for this one; null for the first.</summary>
    public int? Parent { get; init; }

    /// <summary>The branch; null for the first.</summary>
    public string? Branch { get; init; }

    /// <summary>The instruction that is next.</summary>
    public int At { get; set; }

    public required StoredMessage Message { get; set; }

    public Dictionary<string, StoredValue> Properties { get; set; } = [];

    public List<Frame> Frames { get; init; } = [];

    /// <summary>What it waits for; null if it can run.</summary>
    public Wait? Wait { get; set; }

    /// <summary>Durable repetitions of the step at which it stands.</summary>
    public int Retries { get; set; }

    /// <summary>The visit of the step at which it stands, once that was tried: repetitions of a visit call under the same ids.</summary>
    public int? Visit { get; set; }

    /// <summary>Repetitions at once of a request at which it stands.</summary>
    public int Repeated { get; set; }
}

/// <summary>What a token has begun and not ended: <c>try</c>, <c>scope</c>, <c>forEach</c>, or the undoing of scopes.</summary>
internal sealed class Frame
{
    /// <summary>The instruction that began it.</summary>
    public required int At { get; set; }

    /// <summary>Completed scopes when it began, without those that were undone since.</summary>
    public int Scopes { get; set; }

    /// <summary>The items, of <c>forEach</c>.</summary>
    public List<StoredMessage>? Items { get; init; }

    /// <summary>The next item.</summary>
    public int Item { get; set; }

    /// <summary>The message to go on with afterwards.</summary>
    public StoredMessage? Message { get; init; }

    /// <summary>Of the undoing of scopes: where to go on afterwards; -1 for the end of the instance.</summary>
    public int? Afterwards { get; set; }

    /// <summary>Of the undoing of scopes: the failure, for the steps that follow.</summary>
    public Dictionary<string, StoredValue>? Properties { get; init; }
}

/// <summary>Kinds of waits.</summary>
internal enum WaitKind
{
    Receive,
    Collect,
    Request,
    Delay,
    Retry,
    Child,
    Join,
}

/// <summary>What a token waits for.</summary>
internal sealed class Wait
{
    public required int Number { get; init; }

    public required WaitKind Kind { get; init; }

    /// <summary>Hash for messages; null if it waits for none.</summary>
    public string? Hash { get; set; }

    /// <summary>The timer of the wait; null if it has none.</summary>
    public Guid? Timer { get; set; }

    /// <summary>A second timer: when a collection ends in any case.</summary>
    public Guid? Limit { get; init; }

    /// <summary>The time of the timer, for waits that begin again after a suspension.</summary>
    public TimeSpan? After { get; init; }

    /// <summary>The request whose reply it waits for; null if none.</summary>
    public Guid? Request { get; init; }

    /// <summary>The instance that it runs; null if it runs none.</summary>
    public ChildRun? Child { get; init; }

    /// <summary>Collected messages.</summary>
    public List<StoredMessage>? Collected { get; init; }

    /// <summary>Of the wait for branches: how many have ended.</summary>
    public int Ended { get; set; }
}

/// <summary>A scope that has completed and can be undone.</summary>
/// <param name="At">The first instruction that undoes it.</param>
/// <param name="Tokens">The token that completed it, and those that wait for it.</param>
/// <param name="Message">The message at its end.</param>
internal sealed record CompletedScope(int At, IReadOnlyList<int> Tokens, StoredMessage Message);

/// <summary>Who waits for an answer.</summary>
/// <param name="Address">Where the answer goes, as the transport understands it.</param>
/// <param name="Request">The message that asked.</param>
internal sealed record Caller(string Address, StoredMessage Request);

/// <summary>An instance that another one runs.</summary>
/// <param name="Instance">Its id.</param>
/// <param name="Start">The timer that starts it; gone once it has started.</param>
internal sealed record ChildRun(Guid Instance, Guid Start);

/// <summary>The wait of an instance that runs this one.</summary>
internal sealed record ParentWait(Guid Instance, int Wait);

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    UseStringEnumConverter = true
)]
[JsonSerializable(typeof(InstanceState))]
[JsonSerializable(typeof(StoredValue))]
[JsonSerializable(typeof(ChildStart))]
[JsonSerializable(typeof(ChildEnd))]
[JsonSerializable(typeof(TransactionResult))]
[JsonSerializable(typeof(List<HistoryStep>))]
internal sealed partial class WorkflowJson : JsonSerializerContext;

/// <summary>The start of an instance by another one.</summary>
/// <param name="Message">The starting message.</param>
/// <param name="Parent">The wait that it ends; null if nobody waits.</param>
internal sealed record ChildStart(StoredMessage Message, ParentWait? Parent);

/// <summary>The end of an instance that another one runs.</summary>
/// <param name="Wait">The wait of the parent.</param>
/// <param name="Message">The last message; null if it did not complete.</param>
/// <param name="Reason">Why it did not complete.</param>
internal sealed record ChildEnd(int Wait, StoredMessage? Message, string? Reason);

/// <summary>A step in the history.</summary>
internal sealed record HistoryStep(string Step, string Kind)
{
    public double Ms { get; init; }

    public string? Branch { get; init; }

    public string? Note { get; init; }

    public string? Code { get; init; }
}
