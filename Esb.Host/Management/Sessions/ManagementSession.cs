namespace Esb.Host.Management.Sessions;

/// <summary>A browser that signed in with a management key.</summary>
/// <param name="keyDigest">The SHA-256 of the key: the session ends with it.</param>
/// <param name="csrf">The text that unsafe requests must repeat in <see cref="ManagementSessions.CsrfHeader"/>.</param>
/// <param name="startedAt">The time of sign-in, as a timestamp.</param>
internal sealed class ManagementSession(byte[] keyDigest, string csrf, long startedAt)
{
    private long _usedAt = startedAt;

    public byte[] KeyDigest => keyDigest;

    public string Csrf => csrf;

    /// <summary>The time of sign-in, as a timestamp.</summary>
    public long StartedAt { get; } = startedAt;

    /// <summary>The time of the last request of a person, as a timestamp.</summary>
    public long UsedAt => Volatile.Read(ref _usedAt);

    public void Use(long now) => Volatile.Write(ref _usedAt, now);
}
