namespace Esb.Endpoints.Http.Credentials.OAuth;

/// <summary>An access token and its validity. Immutable.</summary>
/// <param name="Authorization">The value of the header <c>Authorization</c>.</param>
/// <param name="RenewAt">The time from which a new token is requested.</param>
/// <param name="ValidUntil">The end of its life.</param>
internal sealed record AccessToken(string Authorization, DateTimeOffset RenewAt, DateTimeOffset ValidUntil)
{
    /// <summary>The life of a token whose server does not tell it.</summary>
    public static readonly TimeSpan AssumedLife = TimeSpan.FromMinutes(5);

    private static readonly TimeSpan Margin = TimeSpan.FromSeconds(60);

    /// <summary>A token received now. It is renewed 60 s before its end, one that lives less than 2 minutes after half of its
    /// life.</summary>
    public static AccessToken Received(string token, TimeSpan life, DateTimeOffset now) =>
        new($"Bearer {token}", now + (life < 2 * Margin ? life / 2 : life - Margin), now + life);
}
