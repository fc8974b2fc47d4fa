using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;

namespace SideBySide.Bare;

/// <summary>Answers every POST with the document of the size of the request, as <c>nginx-backend.conf</c> does.</summary>
internal static class BareBackend
{
    public static void Map(WebApplication application, string folder)
    {
        var documents = new SortedList<int, byte[]>();
        foreach (var file in Directory.GetFiles(folder, "buy-*K.xml"))
        {
            var bytes = File.ReadAllBytes(file);
            documents[Digits(bytes.Length)] = bytes;
        }

        application.MapPost(
            "/{**path}",
            async context =>
            {
                await context.Request.Body.CopyToAsync(Stream.Null);
                var answer = documents.GetValueOrDefault(Digits(context.Request.ContentLength ?? 0)) ?? documents.Values[0];
                (context.Response.ContentType, context.Response.ContentLength) = ("text/xml", answer.Length);
                await context.Response.Body.WriteAsync(answer);
            }
        );
    }

    private static int Digits(long number) => number < 1 ? 1 : (int)Math.Log10(number) + 1;
}
