using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;

namespace Esb.Host.Management.Sessions;

/// <summary>The sessions of browsers on this host: kept in memory, found by a cookie. Thread-safe.</summary>
/// <remarks>A restart ends them, and another host does not know them: the console then asks for the key again.</remarks>
internal sealed class ManagementSessions(ManagementKeys keys, TimeProvider time)
{
    public const string Cookie = "esb-session";
    public const string CsrfHeader = "X-Esb-Csrf";

    /// <summary>Marks requests that a page makes by itself: they do not keep an idle session alive.</summary>
    public const string BackgroundHeader = "X-Esb-Background";

    /// <summary>The time after which a session ends, even if it is in use.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromHours(8);

    /// <summary>The time without a request of a person after which a session ends.</summary>
    public static readonly TimeSpan Idle = TimeSpan.FromMinutes(30);

    private const int Most = 1_000;
    private const int TokenBytes = 32;

    private readonly Lock _gate = new();
    private readonly Dictionary<string, ManagementSession> _sessions = [];

    /// <summary>Begins a session of the owner of a key.</summary>
    /// <returns>The value of the cookie, and the session.</returns>
    public (string Token, ManagementSession Session) Begin(string key)
    {
        var (token, now) = (NewToken(), time.GetTimestamp());
        var session = new ManagementSession(ManagementKeys.DigestOf(key), NewToken(), now);
        lock (_gate)
        {
            foreach (var (ended, _) in _sessions.Where(known => IsOver(known.Value, now)).ToList())
                _sessions.Remove(ended);
            if (_sessions.Count >= Most)
                _sessions.Remove(_sessions.MinBy(known => known.Value.UsedAt).Key);
            _sessions.Add(NameOf(token), session);
        }

        return (token, session);
    }

    /// <summary>Returns a session that has not ended, and its owner as the keys name it now; null for any other cookie.</summary>
    public (ManagementSession Session, ManagementUser User)? Find(string? token)
    {
        if (string.IsNullOrEmpty(token))
            return null;
        ManagementSession? session;
        lock (_gate)
            session = _sessions.GetValueOrDefault(NameOf(token));
        if (session is null || IsOver(session, time.GetTimestamp()))
            return null;
        return keys.Find(session.KeyDigest) is { } user ? (session, user) : null;
    }

    /// <summary>Keeps a session alive for another <see cref="Idle"/>.</summary>
    public void Use(ManagementSession session) => session.Use(time.GetTimestamp());

    public void End(string token)
    {
        lock (_gate)
            _sessions.Remove(NameOf(token));
    }

    /// <summary>Compares in constant time.</summary>
    public static bool IsCsrf(ManagementSession session, string? presented) =>
        presented is not null
        && CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(presented), Encoding.UTF8.GetBytes(session.Csrf));

    private bool IsOver(ManagementSession session, long now) =>
        time.GetElapsedTime(session.StartedAt, now) >= Longest || time.GetElapsedTime(session.UsedAt, now) >= Idle;

    private static string NewToken() => Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(TokenBytes));

    // A dump of the memory shows no cookie that could be used, and the search does not depend on the token itself.
    private static string NameOf(string token) => Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(token)));
}
