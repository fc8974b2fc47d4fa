using Esb.Core.Configuration.Reading;
using Esb.Core.Configuration.Settings;
using Microsoft.Extensions.Logging;

namespace Esb.Core.Configuration;

/// <summary>Named settings in a file of their own that may change while the bus runs. Thread-safe.</summary>
/// <remarks>The file is looked at once a second, by whoever asks. What is wrong with it then is told, and what it said before stays.</remarks>
/// <typeparam name="T">The settings of one name; they refer to no other section.</typeparam>
public sealed partial class LiveSettings<T>
    where T : SettingsRecord
{
    private static readonly TimeSpan LookInterval = TimeSpan.FromSeconds(1);

    private readonly string _path;
    private readonly Action<T, ConfigErrors> _check;
    private readonly TimeProvider _time;
    private readonly ILogger<LiveSettings<T>> _logger;
    private volatile IReadOnlyDictionary<string, T> _current;
    private (DateTime Written, long Length) _seen;
    private long _looked;

    /// <summary>Reads the file for the first time; it was checked before, with <see cref="Read"/>.</summary>
    /// <param name="path">The file.</param>
    /// <param name="check">Reports what is wrong with settings that could be read.</param>
    /// <param name="time">Tells when to look again.</param>
    /// <param name="logger">Is told of each change.</param>
    public LiveSettings(string path, Action<T, ConfigErrors> check, TimeProvider time, ILogger<LiveSettings<T>> logger)
    {
        (_path, _check, _time, _logger) = (path, check, time, logger);
        _seen = Look();
        _looked = time.GetTimestamp();
        _current = Read(path, check, new ConfigErrors()) ?? new Dictionary<string, T>();
    }

    /// <summary>What the file says: the same object until it changes.</summary>
    public IReadOnlyDictionary<string, T> Current
    {
        get
        {
            var looked = Interlocked.Read(ref _looked);
            if (_time.GetElapsedTime(looked) >= LookInterval && Interlocked.CompareExchange(ref _looked, _time.GetTimestamp(), looked) == looked) Refresh();
            return _current;
        }
    }

    /// <summary>Reads such a file; the result is null when anything is wrong, and the errors then say all that is.</summary>
    /// <param name="path">The file: a JSON object of names.</param>
    /// <param name="check">Reports what is wrong with settings that could be read.</param>
    /// <param name="errors">Receives every error.</param>
    public static IReadOnlyDictionary<string, T>? Read(string path, Action<T, ConfigErrors> check, ConfigErrors errors)
    {
        if (ConfigFile.Read(path, errors) is not { } root) return null;
        var found = new ConfigErrors();
        var reader = new SettingsReader(new SettingsCatalog([], []), found);
        var read = (IReadOnlyDictionary<string, T>?)new MapType(typeof(T), new SettingAttribute("") { NamesThings = true }).Read(root, reader);
        foreach (var settings in read?.Values ?? []) check(settings, found);
        errors.AddAll(found);
        return found.Any ? null : read;
    }

    private void Refresh()
    {
        var seen = Look();
        if (seen == _seen) return;
        _seen = seen;
        var errors = new ConfigErrors();
        if (Read(_path, _check, errors) is { } read)
        {
            _current = read;
            LogChanged(_path, read.Count);
        }
        else
        {
            LogRefused(_path, string.Join("; ", errors.All));
        }
    }

    private (DateTime Written, long Length) Look()
    {
        var file = new FileInfo(_path);
        return file.Exists ? (file.LastWriteTimeUtc, file.Length) : default;
    }

    [LoggerMessage(EventId = 1101, Level = LogLevel.Information, Message = "{File} has changed: {Count} names are in force")]
    private partial void LogChanged(string file, int count);

    [LoggerMessage(EventId = 1102, Level = LogLevel.Error, Message = "{File} has changed, and is not taken over (ESB-CFG-RELOAD): {Problems}")]
    private partial void LogRefused(string file, string problems);
}
