using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Workflows.Workflows.State;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>The variables of an instance while a step runs: changes count when the step has succeeded.</summary>
internal sealed class InstanceVariables(Dictionary<string, StoredValue> stored) : IProcessVariables
{
    public const long LargestValue = 1024 * 1024;
    public const long LargestSum = 4 * 1024 * 1024;

    private Dictionary<string, StoredValue?>? _changed;

    /// <summary>The changes so far; null for a variable that was removed.</summary>
    public Dictionary<string, StoredValue?> Changed => _changed is null ? [] : new(_changed);

    public object? Find(string name)
    {
        if (_changed?.TryGetValue(name, out var changed) == true)
            return changed?.ToValue();
        return stored.GetValueOrDefault(name)?.ToValue();
    }

    public void Set(string name, object? value)
    {
        var kept = value is null ? null : StoredValue.Of(value);
        if (kept?.Size > LargestValue)
            throw TooLarge(name, LargestValue);
        (_changed ??= [])[name] = kept;
    }

    /// <summary>Keeps the changes.</summary>
    public void Apply()
    {
        foreach (var (name, value) in _changed ?? [])
        {
            if (value is null)
                stored.Remove(name);
            else
                stored[name] = value;
        }

        if (_changed is not null)
            CheckSum();
    }

    /// <summary>Sets a variable at once.</summary>
    public static void Set(Dictionary<string, StoredValue> stored, string name, StoredValue value)
    {
        if (value.Size > LargestValue)
            throw TooLarge(name, LargestValue);
        stored[name] = value;
    }

    private void CheckSum()
    {
        if (stored.Values.Sum(value => value.Size) <= LargestSum)
            return;
        throw TooLarge(stored.MaxBy(variable => variable.Value.Size).Key, LargestSum);
    }

    private static EsbException TooLarge(string name, long limit) =>
        new(
            "ESB-WFL-STATE",
            limit == LargestValue
                ? $"The variable '{name}' is larger than {limit} bytes."
                : $"The variables together are larger than {limit} bytes; the largest is '{name}'.",
            FaultKind.TooLarge
        );
}

/// <summary>The messages that a step publishes: they leave with the next checkpoint.</summary>
internal sealed class StepOutbox : IMessageOutbox
{
    private List<OutgoingMessage>? _messages;

    public IReadOnlyList<OutgoingMessage> Messages => _messages ?? [];

    public void Publish(OutgoingMessage message) => (_messages ??= []).Add(message);
}
