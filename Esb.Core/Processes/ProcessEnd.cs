namespace Esb.Core.Processes;

/// <summary>Work that waits for the end of a process, and the state that the process reads and writes. One for each message; not
/// thread-safe.</summary>
public sealed class ProcessEnd
{
    private readonly List<IProcessEnding> _endings = [];
    private readonly Dictionary<string, object?> _states;
    private readonly HashSet<string> _changed;

    /// <summary>Begins a process.</summary>
    public ProcessEnd()
        : this([], []) { }

    private ProcessEnd(Dictionary<string, object?> states, HashSet<string> changed) => (_states, _changed) = (states, changed);

    /// <summary>True if a step changed a value.</summary>
    public bool HasChanged => _changed.Count > 0;

    /// <summary>The values that steps changed, by name; null removes one.</summary>
    public IEnumerable<KeyValuePair<string, object?>> Changed => _states.Where(state => _changed.Contains(state.Key));

    /// <summary>The end of an item that is processed within the process: work of its own, the same state.</summary>
    public ProcessEnd Branch() => new(_states, _changed);

    /// <summary>Does what waits for success, in the order added.</summary>
    public async ValueTask SucceedAsync(CancellationToken cancellationToken)
    {
        foreach (var ending in _endings)
            await ending.SucceedAsync(cancellationToken);
    }

    /// <summary>Reverts what waits for the end, after a failure.</summary>
    public async ValueTask FailAsync()
    {
        foreach (var ending in _endings)
            await ending.FailAsync();
    }

    /// <summary>Adds work that waits for the end.</summary>
    public void Add(IProcessEnding ending) => _endings.Add(ending);

    /// <summary>True if a value, or that there is none, has been read from the store or was changed.</summary>
    public bool Knows(string name) => _states.ContainsKey(name);

    /// <summary>Sets a value as it was stored.</summary>
    public void Load(string name, object? value) => _states[name] = value;

    /// <summary>Sets a value that is stored when the process has succeeded.</summary>
    public void Change(string name, object? value)
    {
        _states[name] = value;
        _changed.Add(name);
    }

    /// <summary>A value; null if there is none.</summary>
    /// <exception cref="InvalidOperationException">The process does not declare that it reads the value.</exception>
    public object? Read(string name) =>
        _states.TryGetValue(name, out var value)
            ? value
            : throw new InvalidOperationException($"The process reads the state '{name}', which none of its steps declares.");
}

/// <summary>Work that waits for the end of a process.</summary>
public interface IProcessEnding
{
    /// <summary>The process has succeeded. A failure fails the message, which may then be processed again.</summary>
    ValueTask SucceedAsync(CancellationToken cancellationToken);

    /// <summary>The process, or the end of it, has failed. Throws nothing.</summary>
    ValueTask FailAsync();
}
