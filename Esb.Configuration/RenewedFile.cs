using System.Security.Cryptography;
using Esb.Core.Configuration;
using Microsoft.Extensions.Logging;

namespace Esb.Configuration;

/// <summary>An object made from files and rebuilt when their contents change. Renews certificates, keys and settings at run time.
/// Thread-safe.</summary>
/// <remarks>The files are checked on access, once per interval, and compared by content: orchestrators renew files by changing links, whose
/// times indicate nothing. If the new content cannot be used, the reason is logged and the previous object stays in use.</remarks>
/// <typeparam name="T">The type of the object.</typeparam>
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
    /// <param name="what">The content of the files, as named in the log, such as <c>the certificate of listener public</c>.</param>
    /// <param name="paths">The files.</param>
    /// <param name="load">Builds the object, or throws a <see cref="FileFaultException"/>.</param>
    /// <param name="interval">The time between two checks of the files.</param>
    /// <param name="time">The clock.</param>
    /// <param name="logger">Logs each renewal, and the reason if the files cannot be used.</param>
    /// <exception cref="FileFaultException">The files cannot be used now.</exception>
    public RenewedFile(string what, IReadOnlyList<string> paths, Func<T> load, TimeSpan interval, TimeProvider time, ILogger logger)
    {
        (_what, _paths, _load, _interval, _time, _logger) = (what, paths, load, interval, time, logger);
        _contents = Digest();
        _current = load();
        _lookedAt = time.GetTimestamp();
    }

    /// <summary>The current object: the same one until the files change.</summary>
    public T Current
    {
        get
        {
            var now = _time.GetTimestamp();
            var lookedAt = Interlocked.Read(ref _lookedAt);
            if (_time.GetElapsedTime(lookedAt, now) >= _interval && Interlocked.CompareExchange(ref _lookedAt, now, lookedAt) == lookedAt)
                Look();
            return _current;
        }
    }

    private void Look()
    {
        var contents = Digest();
        if (contents.AsSpan().SequenceEqual(_contents))
            return;
        try
        {
            _current = _load();
            (_contents, _refused) = (contents, null);
            LogRenewed(_what);
        }
        catch (FileFaultException ex)
        {
            if (_refused is null || !contents.AsSpan().SequenceEqual(_refused))
                LogRefused(_what, ex.Message);
            _refused = contents;
        }
    }

    private byte[] Digest()
    {
        try
        {
            using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
            foreach (var path in _paths)
                hash.AppendData(File.ReadAllBytes(path));
            return hash.GetHashAndReset();
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return Missing;
        }
    }

    [LoggerMessage(EventId = 1101, Level = LogLevel.Information, Message = "{What} has changed and is in use as of now")]
    private partial void LogRenewed(string what);

    [LoggerMessage(
        EventId = 1102,
        Level = LogLevel.Error,
        Message = "ESB-CFG-RELOAD {What} has changed and cannot be used; the previous content stays in use: it {Fault}"
    )]
    private partial void LogRefused(string what, string fault);
}
