# docker build --tag esb:0.2.0 .
FROM mcr.microsoft.com/dotnet/sdk:10.0 AS build
WORKDIR /source
COPY . .
# A lock file that does not fit is an error: no package comes in that nobody has looked at.
RUN dotnet restore Esb.Host --locked-mode && dotnet publish Esb.Host --no-restore --configuration Release --output /app -p:UseAppHost=false

FROM mcr.microsoft.com/dotnet/aspnet:10.0
COPY --from=build /app /opt/esb
# What the host writes (esb-data: its key and its store) goes here: mount a volume to keep it. Of the group 0, so that any user may write it
# that a platform chooses, which then has that group.
RUN install --directory --owner=1654 --group=0 --mode=0770 /var/lib/esb
WORKDIR /var/lib/esb
VOLUME /var/lib/esb
USER 1654:1654
# The base image names a port that would compete with the configured listeners.
ENV ASPNETCORE_HTTP_PORTS=
EXPOSE 8080 8081
# The image has no HTTP client but the shell's own.
HEALTHCHECK --interval=5s --timeout=6s --start-period=60s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8081 && printf 'GET /health/ready HTTP/1.0\\r\\n\\r\\n' >&3 && read -r -t 5 line <&3 && [[ $line == *' 200 '* ]]"]
ENTRYPOINT ["dotnet", "/opt/esb/esb.dll"]
CMD ["run"]
