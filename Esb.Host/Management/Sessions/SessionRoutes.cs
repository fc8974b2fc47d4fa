using Microsoft.AspNetCore.Http.Features;

namespace Esb.Host.Management.Sessions;

/// <summary>Signs browsers in and out: a key is exchanged for a cookie that scripts cannot read.</summary>
internal static class SessionRoutes
{
    public static IEndpointRouteBuilder MapSessionRoutes(this IEndpointRouteBuilder api, ManagementSessions sessions, SignIn signIn)
    {
        // The key is checked here; a sign-in cannot require one already.
        api.MapPost("/session", (HttpRequest request, CancellationToken cancellationToken) => signIn.RunAsync(request, cancellationToken))
            .WithMetadata(new OpenRoute());
        api.MapGet(
            "/session",
            (HttpContext context) =>
            {
                var user = context.Features.GetRequiredFeature<ManagementUser>();
                return SessionView.Of(user, context.Features.Get<ManagementSession>());
            }
        );
        api.MapDelete(
            "/session",
            (HttpContext context) =>
            {
                if (context.Request.Cookies[ManagementSessions.Cookie] is { } token)
                    sessions.End(token);
                context.Response.Cookies.Delete(ManagementSessions.Cookie, SignIn.CookieOf(context.Request));
                return TypedResults.NoContent();
            }
        );
        return api;
    }
}

/// <summary>The signed-in person or program.</summary>
/// <param name="Name">The name of the key; null for the key of the first start.</param>
/// <param name="Role">The role of the key.</param>
/// <param name="Csrf">The value that unsafe requests with the cookie repeat as <c>X-Esb-Csrf</c>; null for requests with a key.</param>
internal sealed record SessionView(string? Name, ManagementRole Role, string? Csrf)
{
    public static SessionView Of(ManagementUser user, ManagementSession? session) => new(user.Name, user.Role, session?.Csrf);
}
