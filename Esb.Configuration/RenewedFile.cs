using System.Security.Cryptography;
using Esb.Core.Configuration;
using Microsoft.Extensions.Logging;

namespace Esb.Configuration;

/// <summary>What was made of files, and is made anew once they say something else: certificates, keys and settings are renewed while the host runs. Thread-safe.</summary>
/// <remarks>The files are looked at by whoever needs them, once in an interval, and compared by their contents: orchestrators renew by changing links, whose times tell nothing. What cannot be used is told, and what was there before stays.</remarks>
/// <typeparam name="T">What is made of them.</typeparam>
public sealed partial class RenewedFile<T>
    where T : class
{
    private static readonly byte[] Missing = [];

    private readonly string _what;
    private readonly IReadOnlyList<string> _paths;
    private readonly Func<T> _load;
    private readonly TimeSpan _interval;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private volatile T _current;
    private byte[] _contents;
    private byte[]? _refused;
    private long _lookedAt;

    /// <summary>Loads the files for the first time.</summary>
    /// <param name="what">What they hold, as the log names it, such as <c>the certificate of listener public</c>.</param>
    /// <param name="paths">The files.</param>
    /// <param name="load">Makes something of them, or throws a <see cref="FileFaultException"/>.</param>
    /// <param name="interval">Between two looks at the files.</param>
    /// <param name="time">The time.</param>
    /// <param name="logger">Hears that they were renewed, or why they cannot be used.</param>
    /// <exception cref="FileFaultException">They cannot be used now.</exception>
    public RenewedFile(string what, IReadOnlyList<string> paths, Func<T> load, TimeSpan interval, TimeProvider time, ILogger logger)
    {
        (_what, _paths, _load, _interval, _time, _logger) = (what, paths, load, interval, time, logger);
        _contents = Digest();
        _current = load();
        _lookedAt = time.GetTimestamp();
    }

    /// <summary>What the files say: the same object until they change.</summary>
    public T Current
    {
        get
        {
            var now = _time.GetTimestamp();
            var lookedAt = Interlocked.Read(ref _lookedAt);
            if (_time.GetElapsedTime(lookedAt, now) >= _interval && Interlocked.CompareExchange(ref _lookedAt, now, lookedAt) == lookedAt) Look();
            return _current;
        }
    }

    private void Look()
    {
        var contents = Digest();
        if (contents.AsSpan().SequenceEqual(_contents)) return;
        try
        {
            _current = _load();
            (_contents, _refused) = (contents, null);
            LogRenewed(_what);
        }
        catch (FileFaultException ex)
        {
            if (_refused is null || !contents.AsSpan().SequenceEqual(_refused)) LogRefused(_what, ex.Message);
            _refused = contents;
        }
    }

    private byte[] Digest()
    {
        try
        {
            using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
            foreach (var path in _paths) hash.AppendData(File.ReadAllBytes(path));
            return hash.GetHashAndReset();
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return Missing;
        }
    }

    [LoggerMessage(EventId = 1101, Level = LogLevel.Information, Message = "{What} has changed and is in use as of now")]
    private partial void LogRenewed(string what);

    [LoggerMessage(EventId = 1102, Level = LogLevel.Error, Message = "ESB-CFG-RELOAD {What} has changed and cannot be used; the previous content stays in use: it {Fault}")]
    private partial void LogRefused(string what, string fault);
}
