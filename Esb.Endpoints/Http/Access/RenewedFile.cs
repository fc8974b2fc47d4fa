using System.Security.Cryptography;
using Esb.Core.Certificates;

namespace Esb.Endpoints.Http.Access;

/// <summary>What was made of files, and is made anew once they say something else: certificates and keys are renewed while the host runs. Thread-safe.</summary>
/// <remarks>The files are looked at when somebody needs them, and compared by their contents: orchestrators renew by changing links, whose times tell nothing. What cannot be used is told, and what was there before stays.</remarks>
internal sealed class RenewedFile<T>
    where T : class
{
    /// <summary>Between two looks at the files.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(5);

    private readonly IReadOnlyList<string> _paths;
    private readonly Func<T> _load;
    private readonly TimeProvider _time;
    private readonly Action<string?> _told;
    private volatile T _current;
    private byte[] _contents;
    private byte[] _refused = [];
    private long _lookedAt;

    /// <param name="paths">The files.</param>
    /// <param name="load">Makes something of them.</param>
    /// <param name="time">The time.</param>
    /// <param name="told">Hears that they were renewed, or why they cannot be used.</param>
    /// <exception cref="CertificateException">They cannot be used now.</exception>
    /// <exception cref="KeyFileException">They cannot be used now.</exception>
    public RenewedFile(IReadOnlyList<string> paths, Func<T> load, TimeProvider time, Action<string?> told)
    {
        (_paths, _load, _time, _told) = (paths, load, time, told);
        _contents = Digest() ?? [];
        _current = load();
        _lookedAt = time.GetTimestamp();
    }

    public T Current
    {
        get
        {
            var now = _time.GetTimestamp();
            var lookedAt = Interlocked.Read(ref _lookedAt);
            if (_time.GetElapsedTime(lookedAt, now) >= Interval && Interlocked.CompareExchange(ref _lookedAt, now, lookedAt) == lookedAt) Look();
            return _current;
        }
    }

    private void Look()
    {
        if (Digest() is not { } contents || contents.AsSpan().SequenceEqual(_contents)) return;
        try
        {
            _current = _load();
            _contents = contents;
            _told(null);
        }
        catch (Exception ex) when (ex is CertificateException or KeyFileException)
        {
            if (!contents.AsSpan().SequenceEqual(_refused)) _told(ex.Message);
            _refused = contents;
        }
    }

    // Null while one of them is being replaced.
    private byte[]? Digest()
    {
        try
        {
            using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
            foreach (var path in _paths) hash.AppendData(File.ReadAllBytes(path));
            return hash.GetHashAndReset();
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }
}
